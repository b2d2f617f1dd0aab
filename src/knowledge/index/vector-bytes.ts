/** One of several vectors that follow each other in bytes. It is a copy, because the bytes may not be aligned. */
export const vectorOf = (bytes: Uint8Array, place: number, dimensions: number): Float32Array => {
  const size = dimensions * Float32Array.BYTES_PER_ELEMENT
  const vector = new Float32Array(dimensions)
  new Uint8Array(vector.buffer).set(bytes.subarray(place * size, (place + 1) * size))
  return vector
}

/** Vectors after each other, as 32-bit floating-point numbers. */
export const vectorBytes = (vectors: readonly Float32Array[]): Buffer =>
  Buffer.concat(vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)))
