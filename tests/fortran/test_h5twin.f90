! SPDX-License-Identifier: BSD-3-Clause
! test_h5twin.f90 FILE: each kind and several ranks, written by h5twin_write_f to /ours and by h5dwrite_f to /native; what is read
! back is what was written. check.py compares the two, and with the values as they should be.
program test_h5twin
   use hdf5
   use h5twin
   use, intrinsic :: iso_c_binding
   use, intrinsic :: iso_fortran_env, only: real32, real64, int32, int64
   implicit none
   real(real32), target :: a(30000), a_back(30000)
   real(real64), target :: b(60, 70), b_back(60, 70)
   integer(int32), target :: c(13, 22, 31), c_back(13, 22, 31)
   integer(int64), target :: d(9, 8, 7, 20), d_back(9, 8, 7, 20)
   integer(hid_t) :: file, native, ours, dataset, dcpl, part, memory
   integer(hsize_t) :: chunk(3)
   integer(hid_t), parameter :: nothing = -1
   character(256) :: path, text
   character(4) :: short
   integer :: error, i

   call get_command_argument(1, path)
   call h5open_f(error)
   call h5twin_register_f(error)
   call must(error == 0, 'register')
   a = [(sin(0.001*i), i=1, size(a))]
   b = reshape([(cos(0.01d0*i)*100, i=1, size(b))], shape(b))
   c = reshape([(mod(i*i, 1000), i=1, size(c))], shape(c))
   d = reshape([(i*10000000000_int64, i=1, size(d))], shape(d))
   call h5fcreate_f(trim(path), H5F_ACC_TRUNC_F, file, error)
   call h5gcreate_f(file, 'native', native, error)
   call h5gcreate_f(file, 'ours', ours, error)

   call create(native, 'a', H5T_IEEE_F32LE, shape(a, kind=hsize_t), 'sleek:abs=1e-2')
   call h5dwrite_f(dataset, H5T_NATIVE_REAL, a, shape(a, kind=hsize_t), error)
   call h5dclose_f(dataset, error)
   call create(ours, 'a', H5T_IEEE_F32LE, shape(a, kind=hsize_t), 'sleek:abs=1e-2')
   call h5twin_write_f(dataset, H5T_NATIVE_REAL, a, error)
   call must(error == 0, 'write a')
   call h5twin_read_f(dataset, H5T_NATIVE_REAL, a_back, error)
   call must(error == 0 .and. all(abs(a_back - a) <= 1e-2), 'read a')
   call h5twin_spec_f(dataset, text, error)
   call must(error == 0 .and. text == 'sleek:abs=0.01', 'spec of a')
   call h5twin_spec_f(dataset, short, error)
   call must(error == 0 .and. short == 'slee', 'short spec of a')
   call h5dclose_f(dataset, error)

   call create(native, 'b', H5T_IEEE_F64LE, shape(b, kind=hsize_t), 'cascade')
   call h5dwrite_f(dataset, H5T_NATIVE_DOUBLE, b, shape(b, kind=hsize_t), error)
   call h5dclose_f(dataset, error)
   call create(ours, 'b', H5T_IEEE_F64LE, shape(b, kind=hsize_t), 'cascade')
   call h5twin_write_f(dataset, H5T_NATIVE_DOUBLE, b, error)
   call must(error == 0, 'write b')
   call h5twin_read_f(dataset, H5T_NATIVE_DOUBLE, b_back, error)
   call must(error == 0 .and. all(b_back == b), 'read b')
   ! A part, to a part of memory.
   b_back = 7
   call h5dget_space_f(dataset, part, error)
   call h5sselect_hyperslab_f(part, H5S_SELECT_SET_F, [5_hsize_t, 10_hsize_t], [50_hsize_t, 40_hsize_t], error)
   call h5screate_simple_f(2, shape(b, kind=hsize_t), memory, error)
   call h5sselect_hyperslab_f(memory, H5S_SELECT_SET_F, [5_hsize_t, 10_hsize_t], [50_hsize_t, 40_hsize_t], error)
   call h5twin_read_f(dataset, H5T_NATIVE_DOUBLE, b_back, error, memory, part)
   call must(error == 0 .and. all(b_back(6:55, 11:50) == b(6:55, 11:50)), 'read a part of b')
   call must(all(b_back(:5, :) == 7) .and. all(b_back(:, :10) == 7) .and. all(b_back(:, 51:) == 7), 'around it')
   call h5sclose_f(memory, error)
   call h5sclose_f(part, error)
   call h5dclose_f(dataset, error)

   call create(native, 'c', H5T_STD_I32LE, shape(c, kind=hsize_t), 'cascade')
   call h5dwrite_f(dataset, H5T_NATIVE_INTEGER, c, shape(c, kind=hsize_t), error)
   call h5dclose_f(dataset, error)
   call create(ours, 'c', H5T_STD_I32LE, shape(c, kind=hsize_t), 'cascade')
   call h5twin_write_f(dataset, H5T_NATIVE_INTEGER, c, error)
   call must(error == 0, 'write c')
   call h5twin_read_f(dataset, H5T_NATIVE_INTEGER, c_back, error)
   call must(error == 0 .and. all(c_back == c), 'read c')
   call h5dclose_f(dataset, error)

   ! By address, as h5dwrite_f takes all kinds.
   call create(native, 'd', H5T_STD_I64LE, shape(d, kind=hsize_t), 'e2mc')
   call h5dwrite_f(dataset, H5T_STD_I64LE, c_loc(d), error)
   call h5dclose_f(dataset, error)
   call create(ours, 'd', H5T_STD_I64LE, shape(d, kind=hsize_t), 'e2mc')
   call h5twin_write_f(dataset, H5T_STD_I64LE, c_loc(d), error)
   call must(error == 0, 'write d')
   call h5twin_read_f(dataset, H5T_STD_I64LE, d_back, error)
   call must(error == 0 .and. all(d_back == d), 'read d')
   d_back = 0
   call h5twin_keep_chunks_f(0_c_size_t)
   call h5twin_read_f(dataset, H5T_STD_I64LE, c_loc(d_back), error)
   call must(error == 0 .and. all(d_back == d), 'read d by address')
   call h5dclose_f(dataset, error)

   ! To be converted: HDF5 does it.
   call create(ours, 'converted', H5T_IEEE_F32LE, shape(b, kind=hsize_t), 'cascade')
   call h5twin_write_f(dataset, H5T_NATIVE_DOUBLE, b, error)
   call must(error == 0, 'write converted')
   call h5dclose_f(dataset, error)

   ! What is wrong is an error, and says why.
   call h5eset_auto_f(0, error)
   call h5twin_check_f('lattice:abs=1e-3', error)
   call must(error == 0, 'a good spec')
   call h5twin_check_f('latice:abs=1e-3', error)
   call must(error < 0, 'no codec')
   call h5pcreate_f(H5P_DATASET_CREATE_F, dcpl, error)
   call h5twin_set_f(dcpl, 'lattice:bas=1e-3', error)
   call h5twin_message_f(text)
   call must(error < 0 .and. index(text, 'bas=1e-3') > 0, 'no such option')
   call h5pset_chunk_f(dcpl, 1, [10_hsize_t], error)
   call h5pset_deflate_f(dcpl, 1, error)
   call h5screate_simple_f(1, [100_hsize_t], memory, error)
   call h5dcreate_f(file, 'deflated', H5T_IEEE_F32LE, memory, dataset, error, dcpl)
   call h5twin_spec_f(dataset, text, error)
   call must(error < 0 .and. text == '', 'no filter of ours')
   call h5twin_message_f(text)
   call must(index(text, 'not the only one') > 0, 'its message')
   call h5twin_write_f(nothing, H5T_NATIVE_REAL, a, error)
   call must(error < 0, 'no dataset')
   call h5twin_read_f(nothing, H5T_NATIVE_REAL, a_back, error)
   call must(error < 0, 'nothing to read')
   call h5dclose_f(dataset, error)
   call h5sclose_f(memory, error)
   call h5pclose_f(dcpl, error)

   call h5twin_chunk_shape_f([1000_hsize_t, 1000_hsize_t, 0_hsize_t], 4, chunk)
   call must(chunk(3) == 1 .and. chunk(1) >= chunk(2) .and. product(chunk)*4 <= 1048576, 'chunk shape')
   call h5gclose_f(native, error)
   call h5gclose_f(ours, error)
   call h5fclose_f(file, error)
   call must(error == 0, 'close')
   call h5close_f(error)
   print '(a)', 'all as it should be'

contains

   subroutine create(group, name, type, dims, spec)
      integer(hid_t), intent(in) :: group, type
      character(*), intent(in) :: name, spec
      integer(hsize_t), intent(in) :: dims(:)
      integer(hid_t) :: space, list
      call h5screate_simple_f(size(dims), dims, space, error)
      call h5pcreate_f(H5P_DATASET_CREATE_F, list, error)
      call h5pset_chunk_f(list, size(dims), (dims + 2)/3, error)
      call h5twin_set_f(list, spec, error)
      call must(error == 0, 'set '//name)
      call h5dcreate_f(group, name, type, space, dataset, error, list)
      call must(error == 0, 'create '//name)
      call h5pclose_f(list, error)
      call h5sclose_f(space, error)
   end subroutine

   subroutine must(holds, what)
      logical, intent(in) :: holds
      character(*), intent(in) :: what
      if (holds) return
      print '(2a)', 'wrong: ', what
      error stop 1
   end subroutine
end program
