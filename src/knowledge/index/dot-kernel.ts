/**
 * The products of a query with all codes of a table, in machine code, because searches spend most of their time here. It is WebAssembly
 * with SIMD, which multiplies sixteen numbers at a time; JavaScript multiplies one.
 */

/** The length of each row of codes is a multiple of this number of bytes. */
export const codesStep = 16

const i32 = 0x7f
const v128 = 0x7b

/** The instructions of the kernel, by their names in the WebAssembly specification. */
const op = {
  loop: [0x03, 0x40],
  end: [0x0b],
  brIf: (depth: number) => [0x0d, depth],
  get: (local: number) => [0x20, local],
  set: (local: number) => [0x21, local],
  tee: (local: number) => [0x22, local],
  i32Const: (value: number) => [0x41, value],
  i32Add: [0x6a],
  i32Sub: [0x6b],
  i32LessThan: [0x49],
  i32Store: [0x36, 2, 0],
  load: (offset: number) => [0xfd, 0x00, 4, offset],
  zero: [0xfd, 0x0c, ...new Array<number>(16).fill(0)],
  extendLow: [0xfd, 0x87, 0x01],
  extendHigh: [0xfd, 0x88, 0x01],
  dot: [0xfd, 0xba, 0x01],
  add: [0xfd, 0xae, 0x01],
  lane: (lane: number) => [0xfd, 0x1b, lane],
}

/** Parameters and locals of the function `products`. */
const [query, codes, end, width, out] = [0, 1, 2, 3, 4]
const [at, rowEnd, sum, part] = [5, 6, 7, 8]

/** `do { sum = 0; do { sum += codes · query, sixteen at a time } while (row not over); *out++ = sum } while (codes < end)` */
const body = [
  ...op.loop,
  ...[...op.zero, ...op.set(sum), ...op.get(query), ...op.set(at), ...op.get(codes), ...op.get(width), ...op.i32Add, ...op.set(rowEnd)],
  ...op.loop,
  ...[...op.get(codes), ...op.load(0), ...op.tee(part), ...op.extendLow, ...op.get(at), ...op.load(0), ...op.dot],
  ...[...op.get(part), ...op.extendHigh, ...op.get(at), ...op.load(16), ...op.dot, ...op.add, ...op.get(sum), ...op.add, ...op.set(sum)],
  ...[...op.get(at), ...op.i32Const(32), ...op.i32Add, ...op.set(at)],
  ...[...op.get(codes), ...op.i32Const(16), ...op.i32Add, ...op.tee(codes), ...op.get(rowEnd), ...op.i32LessThan, ...op.brIf(0), ...op.end],
  ...op.get(out),
  ...[0, 1, 2, 3].flatMap((lane) => [...op.get(sum), ...op.lane(lane), ...(lane > 0 ? op.i32Add : [])]),
  ...op.i32Store,
  ...[...op.get(out), ...op.i32Const(4), ...op.i32Add, ...op.set(out)],
  ...[...op.get(codes), ...op.get(end), ...op.i32LessThan, ...op.brIf(0), ...op.end],
  ...op.end,
]

/** A number in WebAssembly's variable-length encoding. */
const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)])
const sized = (bytes: readonly number[]): number[] => [...leb(bytes.length), ...bytes]
const text = (name: string): number[] => sized([...Buffer.from(name)])
const section = (id: number, bytes: readonly number[]): number[] => [id, ...sized(bytes)]

const locals = [2, 2, i32, 2, v128]
const moduleBytes = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 0]),
  ...section(2, [1, ...text('index'), ...text('memory'), 2, 0, 1]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...text('products'), 0, 0]),
  ...section(10, [1, ...sized([...locals, ...body])]),
])

/**
 * Writes the product of the query with each row of codes between the addresses `codes` and `end` to the address `out`: one 32-bit number
 * per row.
 */
export type Products = (query: number, codes: number, end: number, width: number, out: number) => void

/** The memory that the kernel reads and writes. When it grows, its earlier buffers become empty. */
export type KernelMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

/** The part of the WebAssembly API that is used here; the types of Node lack it. */
type WebAssemblyApi = {
  Memory: new (size: { initial: number }) => KernelMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: { index: { memory: KernelMemory } }) => { exports: { products: Products } }
}

const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi }

export const pageBytes = 65_536

/** `newMemory(1)`: 65,536 bytes of zeros */
export const newMemory = (pages: number): KernelMemory => new webAssembly.Memory({ initial: pages })

let compiled: object | undefined

/**
 * The kernel over a memory. The query has 16-bit numbers, the codes 8-bit ones, in rows of `width` bytes, a multiple of `codesStep`.
 *
 * @example productsOver(newMemory(1))(0, 32, 64, 16, 1024) // two rows of 16 codes
 */
export const productsOver = (memory: KernelMemory): Products => {
  compiled ??= new webAssembly.Module(moduleBytes)
  return new webAssembly.Instance(compiled, { index: { memory } }).exports.products
}
