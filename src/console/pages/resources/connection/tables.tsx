/** Room: what is shown of a connection. It imports only console/api, console/basics and console/components. */

import { useSignal } from '@preact/signals'
import { nameText, quoted } from '../../../api/sql.js'
import { loadConnectedTables, tableParts } from '../../../basics/connected-tables.js'
import { useLoaded } from '../../../basics/loading.js'
import { hrefOf } from '../../../basics/place.js'
import { Listing } from '../../../components/listing.js'
import { Busy, Empty, Refusal } from '../../../components/notice.js'

/** The most rows of a look at a table. */
const rowsMax = 1_000

/** So many tables have a field to find one. */
const manyTables = 20

/** The tables of a connection, as they are there now: each leads to its rows, and to a model of them. */
export const Tables = ({ database }: { database: string }) => {
  const { loaded, reload } = useLoaded((signal) => loadConnectedTables(database, signal), [database])
  const sought = useSignal('')
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.length === 0) return <Empty title="No tables here">The database lists none that its user may read.</Empty>
  const shown = value.filter(({ name }) => name.toLowerCase().includes(sought.value.toLowerCase()))
  return (
    <>
      {value.length > manyTables && (
        <label class="inline">
          <span>Find</span>
          <input type="search" value={sought.value} onInput={({ currentTarget }) => (sought.value = currentTarget.value)} />
        </label>
      )}
      <Listing
        label={`Tables of ${database}`}
        isNarrow
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Table',
            of: (table) => {
              const query = `SELECT * FROM ${tableParts(database, table).map(quoted).join('.')} LIMIT ${rowsMax}`
              return <a href={hrefOf('/query', { sql: query })}>{table.name}</a>
            },
          },
          { title: 'Kind', of: ({ type, note }) => [type === 'data' ? 'table' : type, note].filter(Boolean).join(', ') },
          {
            title: 'Models',
            of: (table) => (
              <a
                href={hrefOf('/models/new', { table: nameText(tableParts(database, table)) })}
                aria-label={`Train a model on ${table.name}`}
              >
                Train a model
              </a>
            ),
          },
        ]}
        rows={shown}
      />
    </>
  )
}
