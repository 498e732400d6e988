! SPDX-License-Identifier: BSD-3-Clause
! fortran_steps.f90: a model in Fortran that appends its time steps within a bound, on all cores, and reads a part back.
!
!     cmake -B build && cmake --build build && cmake --install build --prefix PREFIX
!     gfortran fortran_steps.f90 -I PREFIX/include/h5twin/fortran $(pkg-config --cflags hdf5) -o fortran_steps \
!         -L PREFIX/lib -lh5twin_fortran -lh5twin -Wl,-rpath,PREFIX/lib -lhdf5_fortran $(pkg-config --libs hdf5)
!     ./fortran_steps [FILE]
!
! It registers the filters itself, so that it needs no plugins. Other programs read the file with those.
program fortran_steps
   use hdf5
   use h5twin
   use, intrinsic :: iso_fortran_env, only: real32, real64
   implicit none
   integer, parameter :: columns = 256, rows = 192, steps = 12, block = 4
   real(real64), parameter :: bound = 1.0d-3
   real(real32) :: field(columns, rows, block), column(steps), wanted
   character(512) :: path, text
   integer(hid_t) :: file, space, part, memory, dcpl, dataset
   integer(hsize_t) :: dims(3), most(3), chunk(3), start(3), count(3), stored
   real(real64) :: largest
   integer :: error, i, j, k, step

   path = 'fortran_steps.h5'
   if (command_argument_count() > 0) call get_command_argument(1, path)

   ! A series that grows: time is the last dim in Fortran, the first one in the file.
   call h5open_f(error)
   call h5twin_register_f(error)
   call check('the filters')
   dims = [int(columns, hsize_t), int(rows, hsize_t), 0_hsize_t]
   most = [dims(1), dims(2), H5S_UNLIMITED_F]
   call h5twin_chunk_shape_f(dims, 4, chunk)
   chunk(3) = block
   call h5fcreate_f(trim(path), H5F_ACC_TRUNC_F, file, error)
   call h5screate_simple_f(3, dims, space, error, most)
   call h5pcreate_f(H5P_DATASET_CREATE_F, dcpl, error)
   call h5pset_chunk_f(dcpl, 3, chunk, error)
   call h5twin_set_f(dcpl, 'lattice:abs=1e-3', error)
   call check('the spec')
   call h5dcreate_f(file, 'temperature', H5T_IEEE_F32LE, space, dataset, error, dcpl)
   call check('the dataset')
   call h5sclose_f(space, error)

   ! Several steps at once fill their chunks, which is what all cores can share.
   count = [int(columns, hsize_t), int(rows, hsize_t), int(block, hsize_t)]
   call h5screate_simple_f(3, count, memory, error)
   do step = 0, steps - block, block
      do k = 1, block
         do j = 1, rows
            do i = 1, columns
               field(i, j, k) = value(i, j, step + k)
            end do
         end do
      end do
      dims(3) = step + block
      call h5dset_extent_f(dataset, dims, error)
      call h5dget_space_f(dataset, part, error)
      start = [0_hsize_t, 0_hsize_t, int(step, hsize_t)]
      call h5sselect_hyperslab_f(part, H5S_SELECT_SET_F, start, count, error)
      call h5twin_write_f(dataset, H5T_NATIVE_REAL, field, error, memory, part)
      call check('a write')
      call h5sclose_f(part, error)
   end do
   call h5sclose_f(memory, error)
   call h5fflush_f(file, H5F_SCOPE_LOCAL_F, error)
   call h5dget_storage_size_f(dataset, stored, error)
   call h5twin_spec_f(dataset, text, error)
   call check('its spec')

   ! One point through time.
   start = [99_hsize_t, 49_hsize_t, 0_hsize_t]
   count = [1_hsize_t, 1_hsize_t, int(steps, hsize_t)]
   call h5dget_space_f(dataset, part, error)
   call h5sselect_hyperslab_f(part, H5S_SELECT_SET_F, start, count, error)
   call h5screate_simple_f(1, count(3:3), memory, error)
   call h5twin_read_f(dataset, H5T_NATIVE_REAL, column, error, memory, part)
   call check('a read')
   largest = 0
   do step = 1, steps
      wanted = value(100, 50, step)
      largest = max(largest, abs(real(column(step), real64) - real(wanted, real64)))
   end do
   write (*, '(a,a,a,a,f0.1,a,es10.3,a,es10.3)') trim(path), ': ', trim(text), ', ratio ', &
      4.0*columns*rows*steps/real(stored), ', largest error', largest, ' of', bound
   if (.not. largest <= bound) error stop 'the bound is exceeded'

   ! What is wrong is said in one sentence.
   call h5eset_auto_f(0, error)
   call h5twin_set_f(dcpl, 'lattice:abs=-1', error)
   if (error >= 0) error stop 'a bound below 0 was taken'
   call h5twin_message_f(text)
   write (*, '(2a)') 'lattice:abs=-1: ', trim(text)

   call h5sclose_f(memory, error)
   call h5sclose_f(part, error)
   call h5pclose_f(dcpl, error)
   call h5dclose_f(dataset, error)
   call h5fclose_f(file, error)
   call h5close_f(error)

contains

   real(real32) function value(i, j, step)
      integer, intent(in) :: i, j, step
      value = real(sin(0.02d0*i)*cos(0.03d0*j + 0.1d0*step), real32)
   end function

   subroutine check(what)
      character(*), intent(in) :: what
      character(512) :: why
      if (error >= 0) return
      call h5twin_message_f(why)
      write (*, '(4a)') 'fortran_steps: ', what, ': ', trim(why)
      error stop 1
   end subroutine
end program
