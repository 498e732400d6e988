! SPDX-License-Identifier: BSD-3-Clause
! h5twin.f90: the module h5twin, for programs that use HDF5's Fortran module.
!
!     call h5twin_set_f(dcpl, 'lattice:abs=1e-3', error)               ! before h5dcreate_f
!     call h5twin_write_f(dataset, H5T_NATIVE_REAL, field, error)      ! h5dwrite_f, on all cores
!     call h5twin_read_f(dataset, H5T_NATIVE_REAL, field, error)
!     if (error < 0) call h5twin_message_f(text)                       ! why the call before failed
!
! Identifiers are hid_t of HDF5's module, which must be 64 bits wide (HDF5 1.10 and later). error is 0, or negative after a
! failure, as everywhere in HDF5. Arrays are contiguous, of any rank; dims are in Fortran's order, fastest first.
! Link libh5twin_fortran, libh5twin and HDF5's Fortran and C libraries; the filters come from HDF5_PLUGIN_PATH, or from
! h5twin_register_f.
module h5twin
   use, intrinsic :: iso_c_binding
   implicit none
   private

   public :: h5twin_set_f, h5twin_spec_f, h5twin_check_f, h5twin_register_f, h5twin_write_f, h5twin_read_f
   public :: h5twin_chunk_shape_f, h5twin_message_f, h5twin_keep_chunks_f

   integer, parameter :: id_kind = c_int64_t      ! hid_t
   integer, parameter :: dims_kind = c_int64_t    ! hsize_t
   integer, parameter :: spec_length = 512        ! characters

   ! H5Dwrite and H5Dread as in h5twin_io.h: values, or their address by c_loc.
   !     call h5twin_write_f(dset_id, mem_type_id, values, error [, mem_space_id, file_space_id, xfer_prp])
   interface h5twin_write_f
      module procedure write_address, write_real, write_double, write_integer, write_long
   end interface
   interface h5twin_read_f
      module procedure read_address, read_real, read_double, read_integer, read_long
   end interface

   interface
      function c_set(dcpl, spec) bind(c, name='h5twin_fortran_set') result(error)
         import
         integer(id_kind), value :: dcpl
         character(kind=c_char), intent(in) :: spec(*)
         integer(c_int) :: error
      end function
      function c_spec(dataset, text, capacity) bind(c, name='h5twin_fortran_spec') result(error)
         import
         integer(id_kind), value :: dataset
         character(kind=c_char), intent(out) :: text(*)
         integer(c_size_t), value :: capacity
         integer(c_int) :: error
      end function
      function c_check(spec) bind(c, name='h5twin_fortran_check') result(error)
         import
         character(kind=c_char), intent(in) :: spec(*)
         integer(c_int) :: error
      end function
      function c_register() bind(c, name='h5twin_fortran_register') result(error)
         import
         integer(c_int) :: error
      end function
      function c_write(dataset, mem_type, mem_space, file_space, dxpl, buffer) bind(c, name='h5twin_fortran_write') &
         result(error)
         import
         integer(id_kind), value :: dataset, mem_type, mem_space, file_space, dxpl
         type(c_ptr), value :: buffer
         integer(c_int) :: error
      end function
      function c_read(dataset, mem_type, mem_space, file_space, dxpl, buffer) bind(c, name='h5twin_fortran_read') &
         result(error)
         import
         integer(id_kind), value :: dataset, mem_type, mem_space, file_space, dxpl
         type(c_ptr), value :: buffer
         integer(c_int) :: error
      end function
      subroutine c_message(text, capacity) bind(c, name='h5twin_fortran_message')
         import
         character(kind=c_char), intent(out) :: text(*)
         integer(c_size_t), value :: capacity
      end subroutine
      subroutine c_chunk_shape(rank, dims, element_size, chunk) bind(c, name='h5twin_chunk_shape')
         import
         integer(c_int32_t), value :: rank
         integer(dims_kind), intent(in) :: dims(*)
         integer(c_size_t), value :: element_size
         integer(dims_kind), intent(out) :: chunk(*)
      end subroutine
      subroutine c_keep(bytes) bind(c, name='h5twin_io_keep_chunks')
         import
         integer(c_size_t), value :: bytes
      end subroutine
   end interface

contains

   ! The filter of a dataset creation property list, by its spec; chunks are set by h5pset_chunk_f.
   subroutine h5twin_set_f(dcpl, spec, error)
      integer(id_kind), intent(in) :: dcpl
      character(*), intent(in) :: spec
      integer, intent(out) :: error
      error = c_set(dcpl, trim(spec)//c_null_char)
   end subroutine

   ! The spec of an open dataset, the shortest that says the same; fails unless a filter of h5twin is its only one.
   subroutine h5twin_spec_f(dataset, spec, error)
      integer(id_kind), intent(in) :: dataset
      character(*), intent(out) :: spec
      integer, intent(out) :: error
      character(kind=c_char) :: text(spec_length)
      spec = ''
      error = c_spec(dataset, text, int(spec_length, c_size_t))
      if (error >= 0) call copy_text(text, spec)
   end subroutine

   ! Whether a spec is right, without HDF5: what a program asks of its own settings at its start.
   subroutine h5twin_check_f(spec, error)
      character(*), intent(in) :: spec
      integer, intent(out) :: error
      error = c_check(trim(spec)//c_null_char)
   end subroutine

   ! Make all filters known to HDF5 without plugins, also where HDF5 is linked into the program; after h5open_f.
   subroutine h5twin_register_f(error)
      integer, intent(out) :: error
      error = c_register()
   end subroutine

   ! A good shape of chunks for dims, in the same order; a dim that can grow without limit is 0.
   subroutine h5twin_chunk_shape_f(dims, element_bytes, chunk)
      integer(dims_kind), intent(in) :: dims(:)
      integer, intent(in) :: element_bytes
      integer(dims_kind), intent(out) :: chunk(:)
      integer(dims_kind) :: shape_in_c(size(dims))
      call c_chunk_shape(size(dims, kind=c_int32_t), dims(size(dims):1:-1), int(element_bytes, c_size_t), shape_in_c)
      chunk = shape_in_c(size(dims):1:-1)
   end subroutine

   ! What h5twin says of the failure of the last call, one sentence; blank if it says nothing. It is on HDF5's error stack
   ! until the next call of HDF5.
   subroutine h5twin_message_f(text)
      character(*), intent(out) :: text
      character(kind=c_char) :: found(1024)
      call c_message(found, size(found, kind=c_size_t))
      call copy_text(found, text)
   end subroutine

   ! How many bytes of decoded chunks are kept for the next read of a part of one: 0 keeps none, and gives back their memory.
   subroutine h5twin_keep_chunks_f(bytes)
      integer(c_size_t), intent(in) :: bytes
      call c_keep(bytes)
   end subroutine

   subroutine copy_text(text, copy)
      character(kind=c_char), intent(in) :: text(:)
      character(*), intent(out) :: copy
      integer :: i
      copy = ''
      do i = 1, min(size(text), len(copy))
         if (text(i) == c_null_char) exit
         copy(i:i) = text(i)
      end do
   end subroutine

   ! H5S_ALL and H5P_DEFAULT are 0.
   integer(id_kind) function given(identifier)
      integer(id_kind), intent(in), optional :: identifier
      given = 0
      if (present(identifier)) given = identifier
   end function

   subroutine write_address(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      type(c_ptr), intent(in) :: values
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      error = c_write(dset_id, mem_type_id, given(mem_space_id), given(file_space_id), given(xfer_prp), values)
   end subroutine

   subroutine read_address(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      type(c_ptr), intent(in) :: values
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      error = c_read(dset_id, mem_type_id, given(mem_space_id), given(file_space_id), given(xfer_prp), values)
   end subroutine

   subroutine write_real(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      real(c_float), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call write_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine read_real(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      real(c_float), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call read_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine write_double(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      real(c_double), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call write_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine read_double(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      real(c_double), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call read_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine write_integer(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      integer(c_int32_t), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call write_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine read_integer(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      integer(c_int32_t), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call read_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine write_long(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      integer(c_int64_t), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call write_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

   subroutine read_long(dset_id, mem_type_id, values, error, mem_space_id, file_space_id, xfer_prp)
      integer(id_kind), intent(in) :: dset_id, mem_type_id
      integer(c_int64_t), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(id_kind), intent(in), optional :: mem_space_id, file_space_id, xfer_prp
      call read_address(dset_id, mem_type_id, c_loc(values), error, mem_space_id, file_space_id, xfer_prp)
   end subroutine

end module
