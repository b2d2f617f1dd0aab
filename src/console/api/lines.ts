import { joined } from './joined.js'

/** The lines of a body as they arrive, each as bytes without its line end. */
export async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const reader = body.getReader()
  let parts: Uint8Array<ArrayBuffer>[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      let from = 0
      for (let end = value.indexOf(10, from); end >= 0; end = value.indexOf(10, from)) {
        parts.push(value.subarray(from, end))
        yield joined(parts)
        parts = []
        from = end + 1
      }
      if (from < value.length) parts.push(value.subarray(from))
    }
    if (parts.length > 0) yield joined(parts)
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
