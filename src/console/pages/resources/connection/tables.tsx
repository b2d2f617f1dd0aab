/** Room: what is shown of a connection. It imports only console/api, console/basics, console/components and console/lists. */

import { nameText, quoted } from '../../../api/sql.js'
import { loadConnectedTables, tableParts } from '../../../basics/connected-tables.js'
import { useLoaded } from '../../../basics/loading.js'
import { changeQuery, hrefOf, place } from '../../../basics/place.js'
import { Listing } from '../../../lists/listing.js'
import { partRows, useFirst } from '../../../lists/parts.js'
import { Busy, Empty, Refusal } from '../../../components/notice.js'
import { countText } from '../../../components/value.js'

/** The most rows of a look at a table. */
const rowsMax = 1_000

/** So many tables have a field to find one. */
const manyTables = 20

/**
 * The tables of a connection, as they are there now: each leads to its rows, and to a model of them. The address has the part of a name
 * that is sought. The service lists them all at once, so that a search needs no further answer.
 */
export const Tables = ({ database }: { database: string }) => {
  const { loaded, reload } = useLoaded((signal) => loadConnectedTables(database, signal), [database])
  const sought = place.value.query.get('find') ?? ''
  const { value, error } = loaded.value
  const fitting = (value ?? []).filter(({ name }) => name.toLowerCase().includes(sought.trim().toLowerCase()))
  const { here, more } = useFirst(fitting, partRows, 'shown')
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.length === 0) return <Empty title="No tables here">The database lists none that its user may read.</Empty>
  const cut = value.find(({ note }) => note !== undefined)?.note
  return (
    <>
      {value.length > manyTables && (
        <label class="inline">
          <span>Find</span>
          <input
            type="search"
            value={sought}
            onInput={({ currentTarget: { value: text } }) => changeQuery({ find: text, shown: undefined })}
          />
        </label>
      )}
      {cut !== undefined && <p class="quiet">{cut} A statement reads those that are not here, too.</p>}
      {fitting.length === 0 && <Empty title="No name has this in it">{`There are ${countText(value.length)} tables in all.`}</Empty>}
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
          { title: 'Kind', of: ({ type }) => (type === 'data' ? 'table' : type) },
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
        rows={here}
        more={more}
      />
    </>
  )
}
