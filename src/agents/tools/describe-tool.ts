import { wrong } from '../../basics/errors.js'
import { nameInSql, type DescribedTable } from '../prompt/describe.js'
import { tableText } from '../prompt/table-text.js'
import { cutText } from '../../llm/tokens/estimates.js'
import { namesIn, partsOfName } from '../../catalogue/names.js'
import type { ScopeTable } from '../scope/tables-in.js'
import { fittingTexts, inputSchema, type Tool } from './tool.js'
import { nameKey } from '../../dialect/names.js'

const tablesAtOnce = 10

/** The tool that describes the columns of tables that the prompt only names. */
export const describeTool = (tables: readonly ScopeTable[], db: string, describe: (table: ScopeTable) => Promise<DescribedTable>): Tool => {
  const byName = new Map(tables.map((table) => [nameKey(table.path), table]))
  const find = (name: string): ScopeTable | undefined => {
    const parts = partsOfName(name)
    return byName.get(nameKey(parts)) ?? byName.get(nameKey([db, ...parts]))
  }
  return {
    kind: 'other',
    description: {
      name: 'describe_tables',
      description: 'Tells the columns, the types, some values and the first rows of tables that you may query.',
      inputSchema: inputSchema({
        tables: { type: 'array', items: { type: 'string' }, maxItems: tablesAtOnce, description: 'Full names of tables' },
      }),
    },
    givesData: false,
    async use({ tables: asked }) {
      const names = namesIn(asked)
      if (names.length === 0) throw wrong('tables: must be a list of names of tables')
      const texts: string[] = []
      for (const name of names.slice(0, tablesAtOnce)) {
        const table = find(name)
        texts.push(table ? tableText(await describe(table)) : `There is no table ${cutText(name, 200)} that you may query.`)
      }
      const known = tables.slice(0, tablesAtOnce).map(({ path }) => nameInSql(path))
      if (!names.some(find)) throw wrong(texts.join('\n'), `There are ${known.join(', ')}${tables.length > known.length ? ', …' : ''}.`)
      const shown = fittingTexts(texts, (text) => text)
      const more = names.length - shown.length
      const leftOut = `${more} of ${names.length} tables are left out: describe fewer at once.`
      return { output: [...shown, ...(more > 0 ? [leftOut] : [])].join('\n\n'), rows: null }
    },
  }
}
