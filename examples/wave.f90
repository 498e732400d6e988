! SPDX-License-Identifier: BSD-3-Clause
! wave.f90: waves on a square membrane, checkpointed through h5twin; killed at any time, it goes on from the newest complete
! checkpoint, bit for bit.
!
!     wave [FOLDER [LAST_STEP]]
!
! Link libh5twin_checkpoint_fortran, libh5twin_checkpoint, libh5twin and HDF5's C library.
program wave
   use, intrinsic :: iso_c_binding
   use h5twin_checkpoint
   implicit none
   integer, parameter :: side = 200
   integer(c_int64_t), parameter :: every = 20
   real(c_double), parameter :: pi = 3.14159265358979324d0, courant = 0.5d0
   real(c_double) :: now(side, side), before(side, side)
   type(checkpoints_t) :: checkpoints
   type(checkpoint_info_t) :: found
   integer(c_int64_t) :: step, last_step
   integer :: error
   character(1024) :: folder, text

   folder = 'wave'
   last_step = 200
   if (command_argument_count() > 0) call get_command_argument(1, folder)
   if (command_argument_count() > 1) then
      call get_command_argument(2, text)
      read (text, *) last_step
   end if

   call checkpoints%open(trim(folder), error, keep=2, every_steps=every, background=.true.)
   if (error /= 0) call stop_with(checkpoints%message())
   call checkpoints%restart(found, error)
   if (error == 0) then
      call load()
      print '(a,i0,a,i0)', 'going on from step ', found%step, ' of checkpoint ', found%serial
   else if (error == checkpoint_none) then
      call start()
   else
      call stop_with(checkpoints%message())
   end if

   do while (step < last_step)
      call advance()
      step = step + 1
      if (checkpoints%is_due(step)) call save()
   end do

   call checkpoints%wait(error)
   if (error /= 0) print '(2a)', 'wave: ', checkpoints%message()
   call checkpoints%close(error)
   print '(a,i0,a,es24.17,a,i0)', 'step ', step, ', energy ', sum(now**2), ', state ', hash()

contains

   ! A bump beside the middle, at rest.
   subroutine start()
      integer :: i, j
      do j = 1, side
         do i = 1, side
            now(i, j) = exp(-((i - 70)**2 + (j - 120)**2)/200d0)*sin(pi*i/side)*sin(pi*j/side)
         end do
      end do
      before = now
      step = 0
   end subroutine

   subroutine advance()
      real(c_double) :: next(side, side)
      next = 0
      next(2:side - 1, 2:side - 1) = 2*now(2:side - 1, 2:side - 1) - before(2:side - 1, 2:side - 1) + courant**2* &
         (now(1:side - 2, 2:side - 1) + now(3:side, 2:side - 1) + now(2:side - 1, 1:side - 2) + now(2:side - 1, 3:side) &
          - 4*now(2:side - 1, 2:side - 1))
      before = now
      now = next
   end subroutine

   subroutine save()
      call checkpoints%begin(step, 0.1d0*step, error)
      if (error /= 0) print '(2a)', 'wave: ', checkpoints%message()   ! the one before, in the background, has failed
      call checkpoints%write('membrane/now', now, error, spacing=[0.01d0, 0.01d0])
      call checkpoints%write('membrane/before', before, error, spacing=[0.01d0, 0.01d0])
      ! For pictures, from the middle alone, and within a bound.
      call checkpoints%write('middle', real(now(51:150, 51:150), c_float), error, spec='lattice:abs=1e-4', may_lose=.true.)
      call checkpoints%write_attribute('courant', courant, error)
      call checkpoints%write_attribute('model', 'a membrane', error)
      call checkpoints%commit(error)
      if (error /= 0) print '(2a)', 'wave: ', checkpoints%message()   ! the run goes on: older ones are still there
   end subroutine

   subroutine load()
      real(c_double) :: stored
      call checkpoints%read_attribute('courant', stored, error)
      if (error /= 0) call stop_with(checkpoints%message())
      if (stored /= courant) call stop_with('the checkpoint is of another model')
      call checkpoints%read('membrane/now', now, error)
      if (error == 0) call checkpoints%read('membrane/before', before, error)
      if (error /= 0) call stop_with(checkpoints%message())
      call checkpoints%restart_end()
      step = found%step
   end subroutine

   ! A number that two states share only if all their bits agree, but for chance.
   function hash()
      integer(c_int64_t) :: hash, words(side*side)
      integer :: i
      words = transfer(now, words)
      hash = 0
      do i = 1, size(words)
         hash = ieor(ishftc(hash, 7), words(i))
      end do
   end function

   subroutine stop_with(sentence)
      character(*), intent(in) :: sentence
      print '(2a)', 'wave: ', sentence
      error stop 1
   end subroutine
end program
