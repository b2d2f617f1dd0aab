import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { withoutExplain } from './writing/schema.js'

type Line = { section: string; text: string }

/** The pause in typing before the statement is explained. */
const restMs = 400

const titles: Readonly<Record<string, string>> = {
  sql: 'What is run',
  table: 'What is read',
  model: 'What scores',
  plan: 'How',
}

/** The lines of each section, in order. */
const sectionsOf = (lines: readonly Line[]): [string, string][] => {
  const sections = new Map<string, string[]>()
  for (const { section, text } of lines) sections.set(section, [...(sections.get(section) ?? []), text])
  return [...sections].map(([section, texts]) => [section, texts.join('\n')])
}

/**
 * The plan of a statement: its rewritten text, its tables, and the statements for connected databases. The statement does not run, even if
 * it is an EXPLAIN ANALYZE: the address of the page may come from somebody else.
 */
export const Plan = ({ sql, db, at, params }: { sql: string; db: string; at: string | undefined; params: Record<string, Value> }) => {
  const bare = sql.trim().replace(/;$/, '')
  const rested = useSignal(bare)
  useEffect(() => {
    const timer = setTimeout(() => (rested.value = bare), restMs)
    return () => clearTimeout(timer)
  }, [bare])
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const wanted = rested.value
      if (wanted === '') return []
      return select<Line>({ query: `EXPLAIN ${withoutExplain(wanted)}`, db, at, params, readsOnly: true, signal })
    },
    [rested.value, db, at, JSON.stringify(params)],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (bare === '') return <Empty title="Write a statement first" />
  if (!value || value.length === 0) return <Busy />
  return (
    <div class="plan">
      {sectionsOf(value).map(([section, text]) => (
        <section key={section}>
          <h2>{titles[section] ?? section}</h2>
          <div class="scroll card" tabIndex={0} role="region" aria-label={titles[section] ?? section}>
            <pre>{text}</pre>
          </div>
        </section>
      ))}
    </div>
  )
}
