/** Numbers in memory that threads share. */
export const sharedDoubles = (length: number): Float64Array => new Float64Array(new SharedArrayBuffer(length * 8))

/** Whole numbers of 32 bits in memory that threads share, all 0 at first. */
export const sharedIntegers = (length: number): Int32Array => new Int32Array(new SharedArrayBuffer(length * 4))

/** Bytes in memory that threads share, all 0 at first. */
export const sharedBytes = (length: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(length))

/** Copies numbers to shared memory. */
export const shareDoubles = (numbers: Float64Array): Float64Array => {
  const shared = sharedDoubles(numbers.length)
  shared.set(numbers)
  return shared
}
