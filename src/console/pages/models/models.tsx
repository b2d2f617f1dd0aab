/**
 * Room: the pages of models: how they learned, and how good they are. It imports only console/api, console/basics, console/components and
 * console/lists.
 */

import type { Value } from '../../api/sql.js'
import { hrefOf, momentShown, pathOf } from '../../basics/place.js'
import { Listing } from '../../lists/listing.js'
import { selectPart, useParts } from '../../lists/parts.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { figure } from '../../components/value.js'

type ListedModel = {
  name: string
  project: string
  engine: string | null
  status: string
  accuracy: number | null
  predict: string | null
  version: number
} & Record<string, Value>

const listed = {
  query: `SELECT NAME AS name, PROJECT AS project, ENGINE AS engine, STATUS AS status, ACCURACY AS accuracy, PREDICT AS predict,
      VERSION AS version FROM information_schema.models WHERE ACTIVE OR STATUS <> 'complete'`,
  order: 'project, name, version DESC',
}

/** The models of all projects. */
export default () => {
  const at = momentShown()
  const { rows, error, reload, more } = useParts((part, signal) => selectPart<ListedModel>(listed, part, signal), at, [])
  return (
    <>
      <div class="title">
        <h1>Models</h1>
        {at === undefined && (
          <a class="button" href={hrefOf('/models/new')}>
            Train a model
          </a>
        )}
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!rows && !error && <Busy />}
      {rows?.length === 0 && (
        <Empty title="No models yet">
          <p>A model learns one column of a table from the others, and predicts it.</p>
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Listing
          label="Models"
          keyOf={({ project, name, version }) => `${project}\n${name}\n${version}`}
          columns={[
            {
              title: 'Name',
              of: ({ project, name, version, status }) => (
                <a href={hrefOf(pathOf('models', project, name), { version: status === 'complete' ? undefined : String(version) })}>
                  {name}
                </a>
              ),
            },
            { title: 'Project', of: ({ project }) => project },
            { title: 'Predicts', isClipped: true, of: ({ predict }) => predict },
            { title: 'Version', of: ({ version }) => version },
            { title: 'Status', isBad: ({ status }) => status === 'error', of: ({ status }) => status },
            { title: 'Accuracy', isRight: true, of: ({ accuracy }) => figure(accuracy) },
            { title: 'Engine', of: ({ engine }) => engine },
          ]}
          rows={rows}
          more={more}
        />
      )}
    </>
  )
}
