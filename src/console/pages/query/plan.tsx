import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { Busy, Empty, Refusal } from '../../parts/notice.js'
import { shown } from '../../parts/value.js'

/** How a statement would be answered: what it becomes, what it reads, and what connected databases are sent. */
export const Plan = ({ sql, db, at, params }: { sql: string; db: string; at: string | undefined; params: Record<string, Value> }) => {
  const bare = sql.trim().replace(/;$/, '')
  const { loaded, reload } = useLoaded(
    async (signal) =>
      bare === ''
        ? []
        : select<Record<string, Value>>({ query: /^explain\b/i.test(bare) ? bare : `EXPLAIN ${bare}`, db, at, params, signal }),
    [bare, db, at, JSON.stringify(params)],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.length === 0) return <Empty title="Write a statement first" />
  return (
    <dl class="fields plan">
      {value.map((row, i) => {
        const [name, ...others] = Object.values(row)
        return (
          <div key={i}>
            <dt>{shown(name)}</dt>
            <dd>
              <pre>{others.map((one) => shown(one)).join('\n')}</pre>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
