import { readFileSync } from 'node:fs'
import { settingDescriptions } from '../../src/setup/config.js'
import { problemCatalogue } from '../../src/basics/errors.js'
import { eventsPage } from './events.js'
import { limitsPage } from './limits.js'
import { table } from './markdown.js'
import { metricsPage } from './metrics.js'
import { picture } from './picture.js'
import { tablesPage } from './tables.js'

const errorsPage = (): string =>
  `# Errors

Every refusal is \`application/problem+json\` with \`type\`, \`title\`, \`status\`, \`detail\`, \`code\` and often a \`hint\`. SQL returns the same in an answer of type \`error\`, and [MCP](mcp.md) in an error of JSON-RPC or a result with \`isError\`. Codes are stable; titles and details are for people.

${table(
  ['Code', 'Status', 'Meaning'],
  Object.entries(problemCatalogue).map(([code, { status, about }]) => [`\`${code}\``, String(status), about]),
)}`

const settingsPage = (): string =>
  `# Settings

Environment variables. An empty one counts as unset; a wrong one is refused at start, by name.

${table(
  ['Variable', 'Default', 'Meaning'],
  settingDescriptions.map(({ name, about, default: value }) => [
    `\`${name}\``,
    value === undefined || value === '' ? '' : `\`${String(value)}\``,
    about,
  ]),
)}`

const written = '<!-- Written by `npm run docs`. Change the code that it describes. -->'

// A scrape describes itself only after a moment.
const metrics = await metricsPage()

/** The pages and the picture that are generated from the code, by their path in docs/. */
export const pages = (): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries({
      'use/errors.md': errorsPage(),
      'use/tables.md': tablesPage(),
      'audit/events.md': eventsPage(),
      'operate/limits.md': limitsPage(),
      'operate/settings.md': settingsPage(),
      'operate/metrics.md': metrics,
    }).map(([file, text]) => [file, `${written}\n\n${text}\n`]),
  ),
  'travel.svg': picture(),
})

/** The folder docs/ of the sources, seen from dist/docs/generators. */
export const docsFolder = new URL('../../../docs/', import.meta.url)

/** The current text of a page in docs/. */
export const readPage = (file: string): string => readFileSync(new URL(file, docsFolder), 'utf8')
