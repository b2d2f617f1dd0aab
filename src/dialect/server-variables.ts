/** Clients choose their dialect by this number, which is the version that MindsDB gives. */
export const serverVersion = '8.0.17'

/** The variables that clients read with `@@name` and SHOW VARIABLES, by name. None can be changed. */
export const serverVariables: readonly (readonly [name: string, value: string])[] = [
  ['auto_increment_increment', '1'],
  ['autocommit', '1'],
  ['character_set_client', 'utf8'],
  ['character_set_connection', 'utf8'],
  ['character_set_results', 'utf8'],
  ['character_set_server', 'latin1'],
  ['collation_connection', 'utf8_general_ci'],
  ['collation_server', 'latin1_swedish_ci'],
  ['default_storage_engine', 'InnoDB'],
  ['default_tmp_storage_engine', 'InnoDB'],
  ['event_scheduler', 'OFF'],
  ['init_connect', ''],
  ['interactive_timeout', '28800'],
  ['license', 'Apache-2.0'],
  ['lower_case_table_names', '0'],
  ['max_allowed_packet', '16777216'],
  ['net_buffer_length', '16384'],
  ['net_write_timeout', '60'],
  ['performance_schema', '1'],
  ['query_cache_size', '16777216'],
  ['query_cache_type', 'OFF'],
  [
    'sql_mode',
    'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION',
  ],
  ['system_time_zone', 'UTC'],
  ['time_zone', 'SYSTEM'],
  ['transaction_isolation', 'REPEATABLE-READ'],
  ['tx_isolation', 'REPEATABLE-READ'],
  ['tx_read_only', '0'],
  ['version', serverVersion],
  ['version_comment', '(Mindledger)'],
  ['wait_timeout', '28800'],
]

const withoutScope = (name: string): string => name.toLowerCase().replace(/^(?:session|global|local)\./, '')

/**
 * A variable that a client names, with or without a scope: its name here, and its value, undefined when it does not exist.
 *
 * @example serverVariable('SESSION.autocommit') // { name: 'autocommit', value: '1' }
 */
export const serverVariable = (written: string): { name: string; value: string | undefined } => {
  const name = withoutScope(written)
  return { name, value: serverVariables.find(([known]) => known === name)?.[1] }
}
