import { LongWork } from '../../basics/long-work.js'
import { endOfValue } from './json-bytes.js'

/** About so many bytes are parsed at once. */
const sliceBytes = 64 * 1024
const utf8 = new TextDecoder()
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const notWellFormed = (at: number) => new SyntaxError(`not well-formed JSON at position ${at}`)

/** Reads a JSON text from its bytes, the items of long lists some at a time. */
class Parser {
  private at = 0
  private readonly work = new LongWork()

  constructor(private readonly bytes: Uint8Array) {}

  async parse(): Promise<unknown> {
    const value = await this.value(2)
    this.skipBlanks()
    if (this.at < this.bytes.length) throw notWellFormed(this.at)
    return value
  }

  private skipBlanks(): void {
    while (isSpace(this.bytes[this.at])) this.at++
  }

  private takes(character: string): boolean {
    this.skipBlanks()
    if (this.bytes[this.at] !== character.charCodeAt(0)) return false
    this.at++
    return true
  }

  private needs(character: string): void {
    if (!this.takes(character)) throw notWellFormed(this.at)
  }

  /** A part of the bytes as JSON.parse takes it, inside of something that makes it whole. */
  private slice(start: number, end: number, before = '', after = ''): unknown {
    try {
      return JSON.parse(before + utf8.decode(this.bytes.subarray(start, end)) + after)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      const inside = Number(/ at position (\d+)/.exec(error.message)?.[1] ?? 0)
      throw notWellFormed(start + Math.max(0, inside - before.length))
    }
  }

  /** A value: down to so many levels large ones are read in parts. */
  private async value(levels: number): Promise<unknown> {
    this.skipBlanks()
    const start = this.at
    const end = endOfValue(this.bytes, start)
    if (levels > 0 && end - start > sliceBytes) {
      if (this.takes('[')) return this.items()
      if (this.takes('{')) return this.members(levels - 1)
    }
    this.at = end
    await this.work.pause()
    return this.slice(start, end)
  }

  private async members(levels: number): Promise<unknown> {
    const members: [string, unknown][] = []
    if (this.takes('}')) return {}
    do {
      this.skipBlanks()
      const key = this.key(this.at)
      this.needs(':')
      members.push([key, await this.value(levels)])
    } while (this.takes(','))
    this.needs('}')
    return Object.fromEntries(members)
  }

  private key(start: number): string {
    if (!this.takes('"')) throw notWellFormed(this.at)
    while (this.at < this.bytes.length && this.bytes[this.at] !== 0x22) this.at += this.bytes[this.at] === 0x5c ? 2 : 1
    this.needs('"')
    return String(this.slice(start, this.at))
  }

  private async items(): Promise<unknown[]> {
    const items: unknown[] = []
    if (this.takes(']')) return items
    do {
      const start = this.at
      let end = start - 1
      // Some items at once: to parse each by itself takes longer.
      do end = endOfValue(this.bytes, end + 1)
      while (end - start < sliceBytes && this.bytes[end] === 0x2c)
      this.at = end
      await this.work.pause()
      const read = this.slice(start, end, '[', ']') as unknown[]
      // JSON has no list with nothing between two commas.
      if (read.length === 0) throw notWellFormed(start)
      for (const item of read) items.push(item)
    } while (this.takes(','))
    this.needs(']')
    return items
  }
}

/**
 * Parses a JSON text as JSON.parse does, and lets others have the event loop in between: the items of a long list are read some at a
 * time, at the top or inside of an object.
 *
 * @throws SyntaxError that says at which byte, and nothing of what stands there
 */
export const parseJson = (bytes: Uint8Array): Promise<unknown> => new Parser(bytes).parse()
