import { DuckDBBlobVector, type DuckDBVector } from '@duckdb/node-api'

/**
 * DuckDB's storage of a text or a blob in a column has sixteen bytes: the length, and the bytes themselves if there are at most twelve;
 * otherwise an address.
 */
const slotBytes = 16
const lengthBytes = 4
const inlineMaxBytes = 12
const addressAt = 8

/** The largest gap between two stored values that are read together. It is far smaller than a page, so the whole gap is readable memory. */
const gapMaxBytes = 64
const spanMaxBytes = 1024 * 1024

type Use = (bytes: Uint8Array, from: number, to: number) => void

/** Memory with the values of neighbouring rows. */
type Span = { low: number; high: number; bytes: Uint8Array | undefined }

/** Reads memory through the binding. The binding only follows the address of a stored value, so this builds a stored value. */
const readMemory = (address: number, length: number): Uint8Array => {
  const slot = new DataView(new ArrayBuffer(slotBytes))
  slot.setUint32(0, length, true)
  slot.setUint32(addressAt, address % 2 ** 32, true)
  slot.setUint32(addressAt + 4, Math.floor(address / 2 ** 32), true)
  const stored: unknown = Reflect.construct(DuckDBBlobVector, [slot, { itemValid: () => true }, null, 0, 1])
  const bytes = stored instanceof DuckDBBlobVector ? stored.getItemBytes(0) : null
  if (!bytes) throw new TypeError('the binding reads no bytes')
  return bytes
}

/** Whether a value is next to the values of a span. If it is, the span then includes it. */
const joins = (span: Span, low: number, high: number): boolean => {
  const [from, to] = [Math.min(span.low, low), Math.max(span.high, high)]
  if (low > span.high + gapMaxBytes || high < span.low - gapMaxBytes || to - from > spanMaxBytes) return false
  span.low = from
  span.high = to
  return true
}

/**
 * A reader of the undecoded bytes in a column of texts or blobs. Most values of a chunk are next to each other in memory, and these are
 * fetched together: a call of the binding for each value takes five times as long as writing the value.
 */
export const storedBytesOf = (vector: DuckDBVector, valid: (row: number) => boolean): ((row: number, use: Use) => void) => {
  const view: unknown = Reflect.get(vector, 'dataView')
  if (!(view instanceof DataView)) throw new TypeError('a column of texts or bytes is expected')
  const slots = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  const words = new Uint32Array(view.buffer, view.byteOffset, view.byteLength >> 2)
  const lengthOf = (row: number) => words[row * 4] ?? 0
  const addressOf = (row: number) => (words[row * 4 + 2] ?? 0) + (words[row * 4 + 3] ?? 0) * 2 ** 32
  const rows = vector.itemCount
  let span: Span | undefined
  let spanEnd = 0

  /** The span that begins with a row's value. It ends before the first row whose value is elsewhere in memory. */
  const spanFrom = (first: number): Span => {
    const found: Span = { low: addressOf(first), high: addressOf(first) + lengthOf(first), bytes: undefined }
    for (spanEnd = first + 1; spanEnd < rows; spanEnd++) {
      const length = lengthOf(spanEnd)
      if (length <= inlineMaxBytes || !valid(spanEnd)) continue
      const address = addressOf(spanEnd)
      if (!joins(found, address, address + length)) break
    }
    found.bytes = readMemory(found.low, found.high - found.low)
    return found
  }

  return (row, use) => {
    const length = lengthOf(row)
    if (length <= inlineMaxBytes) {
      const from = row * slotBytes + lengthBytes
      use(slots, from, from + length)
      return
    }
    // Rows are usually read in order. Another order only makes more spans.
    if (!span?.bytes || row >= spanEnd || addressOf(row) < span.low || addressOf(row) + length > span.high) span = spanFrom(row)
    const from = addressOf(row) - span.low
    use(span.bytes ?? slots, from, from + length)
  }
}
