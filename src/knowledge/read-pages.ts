import type { JsonObject } from '../../events/common.js'
import type { KnowledgeBase } from '../../events/knowledge-base.js'
import { Problem, wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { PageText } from './documents/page-text.js'

type Settings = Pick<KnowledgeBase, 'content_columns' | 'id_column'>

/** Fetches an address if the policy allows it, and reads the text of an HTML page. */
export type PageParts = { fetch: typeof globalThis.fetch; textOf: (html: string) => Promise<PageText> }

const asHtml = new Set(['text/html', 'application/xhtml+xml'])
const asText = new Set(['text/plain', 'text/markdown', 'text/x-markdown'])

const unreadable = (host: string, what: string, hint: string): Problem =>
  new Problem('bad_file', 'Page cannot be read', `${host} ${what}`, { hint })

const otherType = (host: string, type: string): Problem =>
  unreadable(
    host,
    type === '' ? 'does not say what it answers' : `answers ${type.slice(0, 100)}`,
    type === 'application/pdf'
      ? 'A PDF is not read here: convert it to text (pdftotext), and send that as rows.'
      : 'HTML, plain text and Markdown are read; send other texts as rows.',
  )

/** The character set in the header, or else in the first bytes of the page. */
const charsetOf = (header: string, bytes: Uint8Array, isHtml: boolean): string => {
  const named = /charset\s*=\s*"?([\w-]+)/i
  const inside = isHtml ? named.exec(Buffer.from(bytes.subarray(0, 1024)).toString('latin1'))?.[1] : undefined
  return named.exec(header)?.[1] ?? inside ?? 'utf-8'
}

const decoded = (host: string, bytes: Uint8Array, charset: string): string => {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    throw unreadable(host, `answers text that is not ${charset.slice(0, 40)}`, 'Send its text as rows.')
  }
}

/** The address that is fetched and that identifies the document: without the part from # on. */
const addressOf = (text: string): URL => {
  if (!URL.canParse(text)) throw wrong(`urls: ${text.slice(0, 100)} is no address`, 'Write it as https://host/path.')
  const url = new URL(text)
  url.hash = ''
  if (url.href.length > limits.knowledgeIdMaxChars)
    throw wrong(`urls: an address has ${url.href.length} characters; at most ${limits.knowledgeIdMaxChars} are taken`)
  return url
}

/** The row of a page: its text is in the first content column that is not for its title, its address or the id. */
const rowOf = ({ title, text }: PageText, address: string, { content_columns: columns, id_column: id }: Settings): JsonObject => {
  const own = { url: address, ...(title !== '' && { title }), [id ?? 'id']: address }
  const isFree = (column: string) => column !== 'title' && !Object.hasOwn(own, column)
  const content = columns.find(isFree) ?? columns[0] ?? 'content'
  return { ...Object.fromEntries(columns.map((column) => [column, ''])), ...own, [content]: text }
}

/**
 * Web pages as rows of a knowledge base. Each page is fetched once, without cookies or keys, if the policy of outgoing calls allows it. A
 * redirect is refused with its target.
 *
 * @example await new PageReader(parts).read(['https://example.com/manual'], base.state, signal) // [{ id: 'https://…', content: '…', url: '…', title: '…' }]
 */
export class PageReader {
  constructor(private readonly parts: PageParts) {}

  /** @throws Problem egress_refused, connection_failed, bad_file, too_large; wrong_arguments for a text that is not an address */
  async read(urls: readonly string[], settings: Settings, signal: AbortSignal): Promise<JsonObject[]> {
    if (urls.length > limits.knowledgeUrlsMax)
      throw wrong(`urls: there are ${urls.length}; at most ${limits.knowledgeUrlsMax} are read at once`, 'Send them in several requests.')
    const rows: JsonObject[] = []
    for (const address of urls.map(addressOf)) {
      const { title, text } = await this.#page(address, signal)
      if (text === '')
        throw unreadable(address.host, 'answers a page without text', 'A page that scripts fill has none: send its text as rows.')
      rows.push(rowOf({ title, text }, address.href, settings))
    }
    return rows
  }

  async #page(url: URL, caller: AbortSignal): Promise<PageText> {
    const { host } = url
    const late = AbortSignal.timeout(limits.knowledgePageTimeoutMs)
    const signal = AbortSignal.any([caller, late])
    try {
      const headers = { accept: 'text/html, text/plain, text/markdown, application/xhtml+xml' }
      const answer = await this.parts.fetch(url, { headers, signal })
      const header = answer.headers.get('content-type') ?? ''
      const type = header.split(';')[0]?.trim().toLowerCase() ?? ''
      const refusal = answer.ok
        ? asHtml.has(type) || asText.has(type)
          ? undefined
          : otherType(host, type)
        : unreadable(host, `answers ${answer.status}`, 'Open the address in a browser without a login: that is what is read.')
      if (refusal) {
        await answer.body?.cancel()
        throw refusal
      }
      const bytes = new Uint8Array(await answer.arrayBuffer())
      const text = decoded(host, bytes, charsetOf(header, bytes, asHtml.has(type)))
      return asHtml.has(type) ? await this.parts.textOf(text) : { title: '', text: text.trim() }
    } catch (error) {
      if (!late.aborted || caller.aborted) throw error
      throw unreadable(host, `did not answer within ${limits.knowledgePageTimeoutMs} ms`, 'Try again later, or send its text as rows.')
    }
  }
}
