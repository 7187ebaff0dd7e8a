! Fortran's view of pinned memory that a copy may still read.
module cuda
    use iso_c_binding
    implicit none
    interface
        integer(c_int) function cudaMallocHost(memory, bytes) bind(c, name="cudaMallocHost")
            import
            type(c_ptr), intent(out) :: memory
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cudaMalloc(memory, bytes) bind(c, name="cudaMalloc")
            import
            type(c_ptr), intent(out) :: memory
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cudaStreamCreateWithFlags(stream, flags) bind(c, name="cudaStreamCreateWithFlags")
            import
            type(c_ptr), intent(out) :: stream
            integer(c_int), value :: flags
        end function
        integer(c_int) function cudaMemcpyAsync(to, from, bytes, kind, stream) bind(c, name="cudaMemcpyAsync")
            import
            type(c_ptr), value :: to, from, stream
            integer(c_size_t), value :: bytes
            integer(c_int), value :: kind
        end function
        integer(c_int) function cudaStreamSynchronize(stream) bind(c, name="cudaStreamSynchronize")
            import
            type(c_ptr), value :: stream
        end function
    end interface
end module

program early
    use cuda
    implicit none
    integer, parameter :: count = 16384
    integer(c_size_t), parameter :: bytes = 4 * count
    type(c_ptr) :: memory, device, stream
    real(c_float), pointer :: batch(:)
    character(len=8) :: how
    integer :: step, i
    call get_command_argument(1, how)
    if (cudaMallocHost(memory, bytes) /= 0) stop 2
    if (cudaMalloc(device, bytes) /= 0) stop 2
    if (cudaStreamCreateWithFlags(stream, 1) /= 0) stop 2
    call c_f_pointer(memory, batch, [count])
    do step = 1, 3
        if (how == "right") then
            if (cudaStreamSynchronize(stream) /= 0) stop 2
        end if
        do i = 1, count
            batch(i) = real(i + step) ! too early
        end do
        if (cudaMemcpyAsync(device, memory, bytes, 1, stream) /= 0) stop 2
    end do
    if (cudaStreamSynchronize(stream) /= 0) stop 2
    print '(A)', "done"
end program
