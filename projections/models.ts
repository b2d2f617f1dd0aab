import { history, nameColumn, textColumn, type HistoryColumn } from './history.js'

/**
 * Models of all projects; `active` is the version that answers requests without a version; `recording` says whether the service keeps its
 * answers.
 */
export const models = history({
  name: 'models',
  begins: 'ModelCreated',
  changes: ['ModelVersionActivated', 'ModelRecordingChanged'],
  ends: ['ModelDeleted'],
  columns: {
    project: textColumn,
    name: nameColumn,
    active: {
      type: 'INTEGER',
      assigns: `CASE type WHEN 'ModelCreated' THEN 'null'::JSON WHEN 'ModelVersionActivated' THEN data->'$.version' END`,
    },
    recording: {
      type: 'VARCHAR',
      assigns: `CASE type WHEN 'ModelCreated' THEN '"all"'::JSON WHEN 'ModelRecordingChanged' THEN data->'$.recording' END`,
    },
  },
})

/** A column that the end of the training assigns; it is null until then. */
const result = (column: string, type: string): HistoryColumn => ({
  type,
  assigns: `CASE type WHEN 'ModelTrainingRequested' THEN 'null'::JSON WHEN 'ModelTrained' THEN data->'$.${column}' END`,
})

/**
 * The versions of all models, one open row each. An event of a version names it in its data; the end of the model also ends all its
 * versions.
 */
export const modelVersions = history({
  name: 'model_versions',
  begins: 'ModelTrainingRequested',
  changes: ['ModelTrainingStarted', 'ModelTrained', 'ModelTrainingFailed'],
  ends: ['ModelVersionDeleted', 'ModelDeleted'],
  part: { name: 'version', type: 'INTEGER' },
  columns: {
    engine: textColumn,
    target: textColumn,
    database: textColumn,
    query: textColumn,
    options: { type: 'JSON', assigns: `data->'$.using'` },
    seed: { type: 'BIGINT' },
    activate: { type: 'BOOLEAN' },
    tag: textColumn,
    keep_training_data: { type: 'BOOLEAN' },
    status: {
      type: 'VARCHAR',
      assigns: `CASE type WHEN 'ModelTrainingRequested' THEN '"generating"'::JSON WHEN 'ModelTrainingStarted' THEN '"training"'::JSON
        WHEN 'ModelTrained' THEN '"complete"'::JSON WHEN 'ModelTrainingFailed' THEN '"error"'::JSON END`,
    },
    error: {
      type: 'VARCHAR',
      assigns: `CASE type WHEN 'ModelTrainingRequested' THEN 'null'::JSON WHEN 'ModelTrainingFailed' THEN data->'$.error' END`,
    },
    artefact: result('artefact', 'VARCHAR'),
    matrix: result('matrix', 'VARCHAR'),
    read_at: result('read_at', 'BIGINT'),
    rows: result('rows', 'BIGINT'),
    accuracy: result('accuracy', 'DOUBLE'),
    report: result('report', 'JSON'),
    runtime: result('runtime', 'JSON'),
    seconds: result('seconds', 'DOUBLE'),
    requested_at: { type: 'TIMESTAMP', assigns: `CASE type WHEN 'ModelTrainingRequested' THEN to_json(recorded_at) END` },
  },
  steps: `(
        SELECT * REPLACE ((data->>'$.version')::INTEGER AS version) FROM batch WHERE type <> 'ModelDeleted'
        UNION ALL
        SELECT b.* REPLACE (v.version AS version) FROM batch AS b JOIN (
          SELECT stream, version FROM ledger.model_versions_history WHERE valid_to IS NULL
          UNION
          SELECT stream, (data->>'$.version')::INTEGER FROM batch WHERE type = 'ModelTrainingRequested'
        ) AS v USING (stream) WHERE b.type = 'ModelDeleted'
      )`,
})
