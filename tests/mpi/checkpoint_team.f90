! SPDX-License-Identifier: BSD-3-Clause
! checkpoint_team.f90: the Fortran modules over MPI: write or read a field of columns.
!
!     checkpoint_team write|read FOLDER
program checkpoint_team
   use, intrinsic :: iso_c_binding
   use mpi
   use h5twin_checkpoint
   use h5twin_checkpoint_mpi
   implicit none
   integer, parameter :: rows = 50, columns = 37
   type(checkpoint_team_t) :: team
   type(checkpoints_t) :: checkpoints
   type(checkpoint_info_t) :: found
   real(c_double), allocatable :: part(:, :), restored(:, :)
   integer(c_int64_t) :: dims(2) = [rows, columns], offset(2)
   integer :: error, rank, size, first, last, i, j, step
   character(1024) :: what, folder

   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, size, error)
   call get_command_argument(1, what)
   call get_command_argument(2, folder)
   first = columns*rank/size
   last = columns*(rank + 1)/size
   offset = [0, first]
   allocate (part(rows, last - first), restored(rows, last - first))
   call checkpoint_team_mpi(team, MPI_COMM_WORLD, error)
   call must(error == 0, 'team')
   call checkpoints%open(trim(folder), error, team=team, background=.true.)
   call must(error == 0, 'open')
   if (what == 'write') then
      do step = 1, 2
         call fill(step)
         call checkpoints%begin(int(step, c_int64_t), 0d0, error)
         call checkpoints%write('u', part, error, dims=dims, offset=offset)
         call checkpoints%commit(error)
         call must(error == 0, 'commit')
      end do
      call checkpoints%begin(3_c_int64_t, 0d0, error)
      call checkpoints%write('u', part, error, dims=dims, offset=offset, spec=trim(merge('no such', 'ndzip  ', rank == size - 1)))
      call checkpoints%commit(error)
      call must(error < 0 .and. index(checkpoints%message(), 'no such') > 0, 'all fail if one fails')
   end if
   call checkpoints%restart(found, error)
   call must(error == 0 .and. found%step == 2, 'restart')
   call fill(2)
   call checkpoints%read('u', restored, error, dims=dims, offset=offset)
   call must(error == 0 .and. all(restored == part), 'read')
   call checkpoints%restart_end()
   call checkpoints%close(error)
   call must(error == 0, 'close')
   call MPI_Finalize(error)

contains

   subroutine fill(factor)
      integer, intent(in) :: factor
      do j = first + 1, last
         do i = 1, rows
            part(i, j - first) = factor*(i + 0.25d0*j)
         end do
      end do
   end subroutine

   subroutine must(is_so, name)
      logical, intent(in) :: is_so
      character(*), intent(in) :: name
      if (.not. is_so) then
         print '(3a)', name, ': ', checkpoints%message()
         call MPI_Abort(MPI_COMM_WORLD, 1, error)
      end if
   end subroutine
end program
