// Rust's view of pinned memory that a copy may still read.
use std::ffi::c_void;

#[link(name = "cudart")]
extern "C" {
    fn cudaMallocHost(memory: *mut *mut c_void, bytes: usize) -> i32;
    fn cudaMalloc(memory: *mut *mut c_void, bytes: usize) -> i32;
    fn cudaStreamCreateWithFlags(stream: *mut *mut c_void, flags: u32) -> i32;
    fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, kind: i32, stream: *mut c_void) -> i32;
    fn cudaStreamSynchronize(stream: *mut c_void) -> i32;
}

const COUNT: usize = 16384;

fn refill(batch: &mut [f32], step: usize) {
    for (i, value) in batch.iter_mut().enumerate() {
        *value = (i + step) as f32; // too early
    }
}

fn main() {
    let right = std::env::args().any(|argument| argument == "right");
    let (mut host, mut device, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    let bytes = COUNT * std::mem::size_of::<f32>();
    unsafe {
        assert_eq!(cudaMallocHost(&mut host, bytes), 0);
        assert_eq!(cudaMalloc(&mut device, bytes), 0);
        assert_eq!(cudaStreamCreateWithFlags(&mut stream, 1), 0);
    }
    let batch = unsafe { std::slice::from_raw_parts_mut(host as *mut f32, COUNT) };
    for step in 0..3 {
        if right {
            unsafe { assert_eq!(cudaStreamSynchronize(stream), 0) };
        }
        refill(batch, step);
        unsafe { assert_eq!(cudaMemcpyAsync(device, host, bytes, 1, stream), 0) };
    }
    unsafe { assert_eq!(cudaStreamSynchronize(stream), 0) };
    println!("done");
}
