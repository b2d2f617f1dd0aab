/**
 * The data of server-sent events, out of bytes that may be cut anywhere: in a character, in a line, in an event. Comments and other fields
 * are left out, and so is an event that does not end.
 *
 * @example
 * const data = new EventData()
 * data.read(Buffer.from('data: {"a":')) // []
 * data.read(Buffer.from('1}\n\n: comment\n\ndata: [DONE]\n\n')) // ['{"a":1}', '[DONE]']
 */
export class EventData {
  readonly #decoder = new TextDecoder()
  /** The beginning of a line, in pieces, so that a line of many pieces is read once. */
  #held: string[] = []
  #lines: string[] = []
  #isAfterReturn = false

  /** The data of the events that these bytes complete. The rest is kept for the next bytes. */
  read(bytes: Uint8Array): string[] {
    let text = this.#decoder.decode(bytes, { stream: true })
    if (text === '') return []
    if (this.#isAfterReturn && text.startsWith('\n')) text = text.slice(1)
    this.#isAfterReturn = text.endsWith('\r')
    const lines = text.includes('\r') ? text.split(/\r\n|\r|\n/) : text.split('\n')
    const begun = lines.pop() ?? ''
    const found: string[] = []
    for (const line of lines) {
      this.#held.push(line)
      this.#take(this.#held.length === 1 ? line : this.#held.join(''), found)
      this.#held = []
    }
    if (begun !== '') this.#held.push(begun)
    return found
  }

  #take(line: string, found: string[]): void {
    if (line !== '') {
      if (line.startsWith('data:')) this.#lines.push(line.slice(line.startsWith('data: ') ? 6 : 5))
      return
    }
    if (this.#lines.length === 0) return
    found.push(this.#lines.join('\n'))
    this.#lines = []
  }
}
