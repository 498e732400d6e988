#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hundreds of runs that are killed, starved or lied to, and what is left of their checkpoints.

    tests/checkpoint/campaign.py [--build BUILD] [--runs 600] [--seed 1] [--only WAY]

Each run goes on from the checkpoints of the one before. After it another program reads every file that has the
name of a complete checkpoint, and compares each value with what the simulation had (checkpoint_run check --all).

    lost    a checkpoint that was reported complete is not there, or none newer
    torn    a file has the name of a complete checkpoint and is not one
    hang    a program did not end in a minute

Real disks that are full (a tmpfs) and quotas (a btrfs image) need root; without it RLIMIT_FSIZE and the shim stand
for them, and the table says so. Lost processes of MPI need mpicc. Exit status 1 if anything was lost, torn or hung.
"""

from __future__ import annotations

import argparse
import errno
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PATIENCE = 60  # seconds until a program counts as hung
MODES = [(), ("--background",), ("--verify",), ("--background", "--verify")]


class Wrong(Exception):
    """kind: lost, torn or hang."""

    def __init__(self, kind: str, what: str):
        super().__init__(f"{kind}: {what}")
        self.kind = kind


def run(command, **more):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE,
                              check=False, **more)
    except subprocess.TimeoutExpired:
        raise Wrong("hang", shlex.join(map(str, command))) from None


class Campaign:
    def __init__(self, build: pathlib.Path, work: pathlib.Path, seed: int):
        self.program, self.shim = build / "tests" / "checkpoint_run", build / "tests" / "fault_shim.so"
        self.work, self.random, self.build = work, random.Random(seed), build
        self.mounts: list[pathlib.Path] = []
        self.notes: list[str] = []
        self.calls: dict[tuple, int] = {}

    # ---- one look at a folder ----

    def newest(self, folder: pathlib.Path) -> tuple[int, int]:
        """Step and serial of the newest checkpoint, after all were compared; (0, 0): none."""
        if not folder.exists():
            return 0, 0
        done = run([self.program, "check", folder, "--all", "--processes", self.random.choice((1, 2, 3)), *side(folder)])
        if done.returncode != 0:
            raise Wrong("torn", f"{folder}: {done.stdout}{done.stderr}")
        files = len(list(folder.glob("checkpoint-*.h5")))
        if done.stdout == "none\n":
            if files:
                raise Wrong("torn", f"{folder}: {files} files, and no checkpoint")
            return 0, 0
        step, serial, count = map(int, re.fullmatch(r"step (\d+) serial (\d+) of (\d+)\n", done.stdout).groups())
        if count != files:
            raise Wrong("torn", f"{folder}: {files} files, {count} checkpoints")
        return step, serial

    def judge(self, folder: pathlib.Path, before: tuple[int, int], text: str, mode, was_killed: bool = False):
        """What was reported complete is there. In the background a checkpoint is reported when it is begun: the report
        that it failed comes after that, and of a killed program not at all."""
        steps: list[int] = []
        for line in text.splitlines():
            if line.startswith("committed "):
                steps.append(int(line.split()[1]))
            elif line.startswith("failed: ") and "--background" in mode and steps:
                steps.pop()
        if was_killed and "--background" in mode:
            del steps[-1:]
        step, serial = self.newest(folder)
        if serial < before[1] + len(steps) or (steps and step < steps[-1]):
            raise Wrong("lost", f"{folder}: step {step} serial {serial}, was {before}, complete since {steps}: {text}")
        return step, serial

    def recovers(self, folder: pathlib.Path, mode):
        """The next run goes on, and tidies up."""
        step, serial = self.newest(folder)
        done = run([self.program, "write", folder, "--steps", 1, *mode, *side(folder)])
        if done.returncode != 0 or self.newest(folder)[0] != step + 1:
            raise Wrong("lost", f"{folder} cannot be gone on from: {done.stdout}{done.stderr}")
        serials = {path.stem for path in folder.glob("checkpoint-*.h5")}
        left = [path.name for path in folder.glob("checkpoint-*") if path.name.endswith(".tmp") or path.stem not in serials]
        if left:
            raise Wrong("torn", f"{folder}: {left} left")

    # ---- ways to go wrong: each is one run ----

    def started(self, folder, *arguments, **more):
        return subprocess.Popen([str(word) for word in (self.program, "write", folder, "--steps", 100000, *arguments)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                **more)

    def kill_group(self, process) -> str:
        os.killpg(process.pid, signal.SIGKILL)
        try:
            return process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            raise Wrong("hang", "a killed program") from None

    def team(self):
        return self.random.choice([(), (), ("--processes", 3)])

    def way_killed(self, folder, mode):
        before = self.newest(folder)
        process = self.started(folder, *mode, *self.team(), *side(folder))
        time.sleep(self.random.uniform(0.01, 0.3))
        self.judge(folder, before, self.kill_group(process), mode, was_killed=True)

    way_killed_large = way_killed

    def way_io_error(self, folder, mode, code=errno.EIO):
        if not self.shim.exists():
            raise SystemExit(f"no {self.shim}: build the tests")
        team = self.team()
        env = {**os.environ, "LD_PRELOAD": str(self.shim), "H5TWIN_FAULT_ERROR": str(code),
               "H5TWIN_FAULT_AT": str(self.random.randrange(30)),
               "H5TWIN_FAULT_ALL_LATER": self.random.choice("01")}
        before = self.newest(folder)
        done = run([self.program, "write", folder, "--steps", 3, *mode, *team], env=env)
        if done.returncode not in (0, 3):
            raise Wrong("lost", f"an error that the program did not survive: {done.stdout}{done.stderr}")
        self.judge(folder, before, done.stdout, mode)

    def way_full(self, folder, mode):
        before = self.newest(folder)
        is_small = any(folder.is_relative_to(point) for point in self.mounts)
        more = {} if is_small or not folder.exists() else {"preexec_fn": small_files}
        done = run([self.program, "write", folder, "--steps", 6, "--keep", 40, *mode, *self.team()], **more)
        if done.returncode not in (0, 3):
            raise Wrong("lost", f"a full disk that the program did not survive: {done.stdout}{done.stderr}")
        self.judge(folder, before, done.stdout, mode)
        if done.returncode == 3:
            self.hit += 1
            for path in sorted(folder.glob("checkpoint-*.h5"))[:-2]:  # the user makes room: older ones go
                path.unlink()
                path.with_suffix(".xmf").unlink(missing_ok=True)
                shutil.rmtree(path.with_suffix(".parts"), ignore_errors=True)

    way_quota = way_full

    def way_lost_process(self, folder, mode):
        before = self.newest(folder)
        process = self.started(folder, *mode, "--processes", 3)
        time.sleep(self.random.uniform(0.05, 0.25))
        rank = self.random.randrange(3)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        victim = process.pid if rank == 0 or len(children) < rank else int(children[rank - 1])
        os.kill(victim, signal.SIGKILL)
        time.sleep(0.1)
        self.judge(folder, before, self.kill_group(process), mode, was_killed=True)

    def way_lost_mpi(self, folder, mode):
        before = self.newest(folder)
        command = [self.mpirun, "-n", "3", str(self.mpi_program), "write", str(folder), "--steps", "100000", *mode]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        time.sleep(self.random.uniform(0.8, 1.6))
        ranks = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_running(pid, self.mpi_program)]
        if ranks:
            os.kill(self.random.choice(ranks), signal.SIGKILL)
        try:  # mpirun ends the others: none waits for the lost one
            text = process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Wrong("hang", "a team of MPI whose process is lost") from None
        self.judge(folder, before, text, mode, was_killed=True)

    def way_clock(self, folder, mode):
        before = self.newest(folder)
        for path in folder.glob("*"):
            os.utime(path, (self.random.randrange(2**31), self.random.randrange(2**31)))
        done = run([self.program, "write", folder, "--steps", 2, *mode, *self.team()],
                   env={**os.environ, "LD_PRELOAD": str(self.clock)})
        step, _ = self.judge(folder, before, done.stdout, mode)
        if done.returncode != 0 or step != before[0] + 2:
            raise Wrong("lost", f"step {step}, not {before[0] + 2}: {done.stdout}{done.stderr}")

    def way_again(self, folder, mode):
        before = self.newest(folder)
        done = run([self.program, "write", folder, "--steps", 1, "--again", *mode, *self.team()])
        step, serial = self.newest(folder)
        if done.returncode != 0 or step != max(before[0], 1) or serial <= before[1]:
            raise Wrong("lost", f"step {step} serial {serial} after {before}: {done.stdout}{done.stderr}")

    # ---- what they need ----

    def mount(self, name: str, *command) -> pathlib.Path | None:
        point = self.work / name
        point.mkdir()
        if os.geteuid() != 0 or run(["mount", *command, point]).returncode != 0:
            self.notes.append(f"{name}: no such file system could be mounted; RLIMIT_FSIZE stands for it")
            return None
        self.mounts.append(point)
        return point

    def prepare(self) -> dict[str, pathlib.Path]:
        """Each way's folder."""
        self.clock = self.work / "clock_shim.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.clock, HERE / "clock_shim.c", "-ldl"], check=True)
        folders = {name: self.work / f"{name}-out" for name in
                   ("killed", "killed_large", "io_error", "full", "quota", "lost_process", "clock", "again")}
        full = self.mount("full", "-t", "tmpfs", "-o", "size=700k", "none")
        folders["full"] = full / "out" if full else folders["full"]
        image = self.work / "image"
        with open(image, "wb") as file:
            file.truncate(192 << 20)
        if shutil.which("mkfs.btrfs") and run(["mkfs.btrfs", "-q", image]).returncode == 0:
            quota = self.mount("quota", "-o", "loop", image)
            if quota:
                for command in (["quota", "enable", quota], ["subvolume", "create", quota / "limited"],
                                ["qgroup", "limit", "900k", quota / "limited"]):
                    subprocess.run(["btrfs", *map(str, command)], check=True, stdout=subprocess.DEVNULL)
                folders["quota"] = quota / "limited" / "out"
                self.notes.append("quota: a limit of btrfs for a subvolume")
        else:
            self.notes.append("quota: no mkfs.btrfs; RLIMIT_FSIZE stands for it")
        self.mpirun = shutil.which("mpirun")
        if self.mpirun and shutil.which("mpicc") and self.compile_mpi():
            folders["lost_mpi"] = self.work / "lost_mpi-out"
        else:
            self.notes.append("lost_mpi: SKIP: no mpicc")
        return folders

    def compile_mpi(self) -> bool:
        flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "hdf5"]).stdout)
        self.mpi_program = self.work / "checkpoint_run_mpi"
        done = run(["mpicc", "-std=c11", "-O1", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", "-DCHECKPOINT_RUN_MPI",
                    f"-I{ROOT / 'include'}", f"-I{self.build / 'include'}", "-o", self.mpi_program,
                    HERE / "checkpoint_run.c", f"-L{self.build / 'lib'}", "-lh5twin_checkpoint", *flags, "-lh5twin",
                    "-lm", "-lpthread", f"-Wl,-rpath,{self.build / 'lib'}"])
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                          OMPI_MCA_rmaps_base_oversubscribe="1", OMP_NUM_THREADS="1")
        return done.returncode == 0

    def close(self):
        for point in self.mounts:
            run(["umount", "-l", point])


def side(folder: pathlib.Path) -> list[str]:
    return ["--side", "48"] if "large" in folder.name else []


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def is_running(pid: str, program: pathlib.Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/exe") == str(program)
    except OSError:
        return False


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build-gcc")
    options.add_argument("--runs", type=int, default=600)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", help="one way: killed, killed_large, io_error, full, quota, lost_process, lost_mpi, clock, again")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="h5twin-campaign-") as folder:
        campaign = Campaign(given.build.resolve(), pathlib.Path(folder).resolve(), given.seed)
        try:
            return carry_out(campaign, given)
        finally:
            campaign.close()


def carry_out(campaign: Campaign, given) -> int:
    folders = campaign.prepare()
    # Killed most often; MPI takes a second to start.
    weights = {"killed": 6, "killed_large": 4, "io_error": 6, "full": 3, "quota": 3, "lost_process": 4, "lost_mpi": 1, "clock": 2, "again": 2}
    ways = [way for way in folders for _ in range(weights[way]) if given.only in (None, way)]
    counts = {way: {"runs": 0, "full": 0, "lost": 0, "torn": 0, "hang": 0} for way in dict.fromkeys(ways)}
    campaign.hit = 0
    begin = time.monotonic()
    for number in range(given.runs):
        way, mode = ways[number % len(ways)], MODES[number % len(MODES)]
        counts[way]["runs"] += 1
        before = campaign.hit
        try:
            getattr(campaign, f"way_{way}")(folders[way], mode)
            if number % 5 == 0 and way not in ("full", "quota"):
                campaign.recovers(folders[way], mode)
        except Wrong as wrong:
            counts[way][wrong.kind] += 1
            print(f"run {number}, {way} {' '.join(mode)}: {wrong}", flush=True)
            shutil.rmtree(folders[way], ignore_errors=True)
        counts[way]["full"] += campaign.hit - before
    print(f"{'way':14}{'runs':>6}{'lost':>6}{'torn':>6}{'hangs':>6}")
    for way, count in counts.items():
        print(f"{way:14}{count['runs']:6}{count['lost']:6}{count['torn']:6}{count['hang']:6}")
    met = ", ".join(f"{count['full']} of {way}" for way, count in counts.items() if count["full"])
    print("\n".join(campaign.notes + [f"met a full disk or a used-up quota: {met or 'none'}",
                                      f"{given.runs} runs in {time.monotonic() - begin:.0f} s, seed {given.seed}"]))
    wrong = sum(count[kind] for count in counts.values() for kind in ("lost", "torn", "hang"))
    if given.runs >= 200 and given.only is None and campaign.hit == 0:
        print("no disk was ever full: this campaign showed nothing")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
