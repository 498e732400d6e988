! SPDX-License-Identifier: BSD-3-Clause
! test_checkpoint_fortran.f90: the module h5twin_checkpoint: each kind and rank, sections, parts, attributes, refusals.
program test_checkpoint_fortran
   use, intrinsic :: iso_c_binding
   use h5twin_checkpoint
   implicit none
   type(checkpoints_t) :: checkpoints
   type(checkpoint_info_t) :: found
   type(checkpoint_info_t), allocatable :: infos(:)
   integer(c_int64_t), allocatable :: extents(:)
   integer :: error, i, j, k, type, failures = 0
   real(c_float) :: r4(5), r4_found(5)
   real(c_double) :: r8(4, 3, 2), r8_found(4, 3, 2), box(2, 3, 1), scalar = 2.5d0, scalar_found, large(60, 50, 40), &
      large_found(60, 50, 40), section(20, 50, 14), numbers(3), number
   integer(c_int8_t) :: i1(2, 2), i1_found(2, 2)
   integer(c_int16_t) :: i2(3), i2_found(3)
   integer(c_int32_t) :: i4(7, 1), i4_found(7, 1), whole
   integer(c_int64_t) :: i8(2), i8_found(2), long
   character(20) :: text
   character(4) :: short
   character(1024) :: folder

   call get_command_argument(1, folder)
   r4 = [(0.5*i, i=1, 5)]
   r8 = reshape([(1d0*i, i=1, 24)], shape(r8))
   i1 = reshape([integer(c_int8_t) :: -1, 2, 3, 127], [2, 2])
   i2 = [integer(c_int16_t) :: 1, -2, 300]
   i4 = reshape([(i*100000, i=1, 7)], [7, 1])
   i8 = [1_c_int64_t, 2_c_int64_t**60]
   do k = 1, 40
      do j = 1, 50
         do i = 1, 60
            large(i, j, k) = sin(0.1d0*i)*cos(0.05d0*j) + k
         end do
      end do
   end do

   call checkpoints%open(trim(folder), error, name='fortran', keep=0, spec='ndzip')
   call must(error == 0, 'open: '//checkpoints%message())
   call checkpoints%restart(found, error)
   call must(error == checkpoint_none, 'nothing is there')
   call checkpoints%begin(7_c_int64_t, 3.5d0, error)
   call checkpoints%write('group/r4', r4, error)
   call checkpoints%write('group/r8', r8, error)
   call checkpoints%write('scalar', scalar, error)
   call checkpoints%write('i1', i1, error)
   call checkpoints%write('i2', i2, error)
   call checkpoints%write('i4', i4, error)
   call checkpoints%write('i8', i8, error)
   call checkpoints%write('large', large, error)
   call checkpoints%write('section', large(11:49:2, :, 1:40:3), error)
   call checkpoints%write('lossy', large, error, spec='lattice:abs=1e-3', may_lose=.true., origin=[0d0, 1d0, 2d0], &
                          spacing=[1d0, 2d0, 3d0])
   call must(error == 0, 'write: '//checkpoints%message())
   call checkpoints%write_attribute('model', 'a membrane', error)
   call checkpoints%write_attribute('number', 0.25d0, error)
   call checkpoints%write_attribute('whole', 42, error)
   call checkpoints%write_attribute('long', 2_c_int64_t**50, error)
   call checkpoints%write_attribute('numbers', [1d0, 2d0, 3d0], error)
   call checkpoints%commit(error)
   call must(error == 0, 'commit: '//checkpoints%message())

   call checkpoints%restart(found, error)
   call must(error == 0 .and. found%serial == 1 .and. found%step == 7 .and. found%time == 3.5d0, 'restart')
   call checkpoints%read('group/r4', r4_found, error)
   call must(error == 0 .and. all(r4_found == r4), 'r4')
   call checkpoints%read('group/r8', r8_found, error)
   call must(error == 0 .and. all(r8_found == r8), 'r8')
   call checkpoints%read('group/r8', box, error, dims=[4_c_int64_t, 3_c_int64_t, 2_c_int64_t], &
                         offset=[1_c_int64_t, 0_c_int64_t, 1_c_int64_t])
   call must(error == 0 .and. all(box == r8(2:3, :, 2:2)), 'a box')
   call checkpoints%read('scalar', scalar_found, error)
   call must(error == 0 .and. scalar_found == scalar, 'scalar')
   call checkpoints%read('i1', i1_found, error)
   call must(error == 0 .and. all(i1_found == i1), 'i1')
   call checkpoints%read('i2', i2_found, error)
   call must(error == 0 .and. all(i2_found == i2), 'i2')
   call checkpoints%read('i4', i4_found, error)
   call must(error == 0 .and. all(i4_found == i4), 'i4')
   call checkpoints%read('i8', i8_found, error)
   call must(error == 0 .and. all(i8_found == i8), 'i8')
   call checkpoints%read('large', large_found, error)
   call must(error == 0 .and. all(large_found == large), 'large')
   call checkpoints%read('section', section, error)
   call must(error == 0, 'section: '//checkpoints%message())
   call must(all(section == large(11:49:2, :, 1:40:3)), 'section')
   large_found = 0
   call checkpoints%read('large', large_found(:, :, 40:1:-1), error)
   call must(error == 0 .and. all(large_found(:, :, 40:1:-1) == large), 'into a section')
   call checkpoints%read('lossy', large_found, error)
   call must(error == 0 .and. maxval(abs(large_found - large)) <= 1d-3 .and. any(large_found /= large), 'lossy')
   call checkpoints%inquire('group/r8', type, extents, error)
   call must(error == 0 .and. type == checkpoint_f64 .and. all(extents == [4, 3, 2]), 'inquire')
   call checkpoints%inquire('no', type, extents, error)
   call must(error == checkpoint_none, 'inquire of none')
   call checkpoints%read('group/r4', r8_found, error)
   call must(error < 0 .and. index(checkpoints%message(), 'group/r4') > 0, 'another type')
   call checkpoints%read('group/r8', box, error, dims=[4_c_int64_t, 3_c_int64_t])
   call must(error < 0, 'dims of another rank')
   call checkpoints%read_attribute('model', text, error)
   call must(error == 0 .and. text == 'a membrane', 'text')
   call checkpoints%read_attribute('model', short, error)
   call must(error < 0, 'a text that is too short')
   call checkpoints%read_attribute('number', number, error)
   call must(error == 0 .and. number == 0.25d0, 'number')
   call checkpoints%read_attribute('whole', whole, error)
   call must(error == 0 .and. whole == 42, 'whole')
   call checkpoints%read_attribute('long', long, error)
   call must(error == 0 .and. long == 2_c_int64_t**50, 'long')
   call checkpoints%read_attribute('numbers', numbers, error)
   call must(error == 0 .and. all(numbers == [1, 2, 3]), 'numbers')
   call checkpoints%read_attribute('no', number, error)
   call must(error == checkpoint_none, 'no attribute')
   call checkpoints%restart_end()

   call checkpoints%begin(8_c_int64_t, 4d0, error)
   call checkpoints%write('large', large, error, spec='lattice:abs=1e-3')
   call must(error < 0 .and. index(checkpoints%message(), 'may_lose') > 0, 'a bound needs leave')
   call checkpoints%commit(error)
   call must(error < 0, 'what failed is not committed')
   do i = 8, 26
      call checkpoints%begin(int(i, c_int64_t), 0d0, error)
      call checkpoints%write('i2', i2, error)
      call checkpoints%commit(error)
   end do
   call checkpoints%list(infos, error)
   call must(error == 0 .and. size(infos) == 20, 'list')
   if (size(infos) == 20) call must(infos(1)%step == 26 .and. infos(20)%step == 7, 'newest first')
   call checkpoints%select(1_c_int64_t, found, error)
   call must(error == 0 .and. found%step == 7, 'select')
   call checkpoints%restart_end()
   call checkpoints%restart(found, error, before=20_c_int64_t)
   call must(error == 0 .and. found%serial == 19, 'before')
   call checkpoints%restart_end()
   call checkpoints%prune(2, error)
   call checkpoints%list(infos, error)
   call must(error == 0 .and. size(infos) == 2, 'prune')
   call checkpoints%close(error)
   call must(error == 0, 'close')
   call checkpoints%open('', error)
   call must(error < 0 .and. index(checkpoints%message(), 'needs a path') > 0, 'a folder without a path')
   call checkpoints%close(error)
   if (failures > 0) error stop 1
   print '(a)', 'fine'

contains

   subroutine must(is_so, what)
      logical, intent(in) :: is_so
      character(*), intent(in) :: what
      if (.not. is_so) then
         print '(2a)', 'wrong: ', what
         failures = failures + 1
      end if
   end subroutine
end program
