import { joined } from './joined.js'

/** The bytes of a body as they arrive. If the reader stops, the rest is cancelled. `heard` is called whenever something arrives. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard?: () => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard?.()
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The lines of a body as they arrive, each as bytes without its line end. `heard` is called as by `chunksOf`. */
export async function* linesOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard?: () => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  let parts: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of chunksOf(body, heard)) {
    let from = 0
    for (let end = chunk.indexOf(10, from); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end))
      yield joined(parts)
      parts = []
      from = end + 1
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
  }
  if (parts.length > 0) yield joined(parts)
}
