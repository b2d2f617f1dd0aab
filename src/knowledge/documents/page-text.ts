import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes } from 'parse5'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

type Node = DefaultTreeAdapterTypes.ChildNode

/** Elements whose contents are not readable text. */
const unread = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'math',
  'iframe',
  'object',
  'head',
  'select',
  'textarea',
  'nav',
  'footer',
])
/** Elements with line breaks before and after them (`lines`), and with empty lines before and after them (`paragraphs`). */
const lines = new Set(['tr', 'li', 'dt', 'dd', 'option', 'div', 'section', 'article', 'header', 'main', 'aside', 'figcaption'])
const paragraphs = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'ul', 'ol', 'dl', 'pre', 'blockquote', 'figure'])

const tidied = (text: string): string =>
  text
    .replaceAll(/[ \t\f\r\u00a0]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()

/**
 * Builds a tree with a maximal number of elements. HTML opens a `<b>` that was never closed again in each block, so a small page can have
 * millions of elements.
 */
const boundedTree = (): typeof defaultTreeAdapter => {
  let elements = 0
  return {
    ...defaultTreeAdapter,
    createElement(...element) {
      if (++elements > limits.knowledgePageMaxElements)
        throw new Problem('bad_file', 'Page cannot be read', `it has more than ${limits.knowledgePageMaxElements} elements`, {
          hint: 'Send its text as rows.',
        })
      return defaultTreeAdapter.createElement(...element)
    },
  }
}

/** The text of a page: its title, and its content with one line for each block. */
export type PageText = { title: string; text: string }

/**
 * Reads an HTML page as browsers do, even if it is broken. Scripts, styles and menus are left out. The tree is walked without recursion,
 * because a page may nest very deeply.
 *
 * @throws Problem bad_file for a page of too many elements
 * @example pageText('<title>T</title><p>One<p>Two') // { title: 'T', text: 'One\n\nTwo' }
 */
export const pageText = (html: string): PageText => {
  const parts: string[] = []
  let title = ''
  const waiting: (Node | string)[] = [...parse(html, { treeAdapter: boundedTree() }).childNodes].reverse()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node === 'string') parts.push(node)
    else if (node.nodeName === '#text' && 'value' in node) parts.push(node.value.replaceAll(/\s+/g, ' '))
    else if ('childNodes' in node) {
      const { nodeName: name, childNodes } = node
      if (name === 'head') {
        const own = childNodes.find((child) => child.nodeName === 'title')
        const [first] = own && 'childNodes' in own ? own.childNodes : []
        if (first && 'value' in first) title = tidied(first.value)
      }
      if (unread.has(name)) continue
      // An element without an end tag ends its line only once.
      if (name === 'br' || name === 'hr') {
        parts.push('\n')
        continue
      }
      const between = paragraphs.has(name) ? '\n\n' : lines.has(name) ? '\n' : name === 'td' || name === 'th' ? ' ' : ''
      waiting.push(between)
      for (let i = childNodes.length - 1; i >= 0; i--) waiting.push(childNodes[i] ?? '')
      parts.push(between)
    }
  }
  return { title, text: tidied(parts.join('')) }
}
