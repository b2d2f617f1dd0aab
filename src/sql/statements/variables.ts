/** Variables with the values that clients expect; the one that names the release is not among them. */
export const systemVariables: readonly (readonly [name: string, value: string])[] = [
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
  // Clients choose their dialect by this number; it is the one the public service says.
  ['version', '8.0.17'],
  ['wait_timeout', '28800'],
]

/** What clients set for their connection, beside the variables that SHOW VARIABLES lists. None changes what a query answers here. */
const others = `
  names character charset transaction application_name client_encoding datestyle extra_float_digits character_set_database
  collation_database completion_type context foreign_key_checks innodb_lock_wait_timeout lc_messages lock_wait_timeout
  net_read_timeout optimizer_switch predictor_cache profiling show_secrets sql_auto_is_null sql_big_selects sql_log_bin
  sql_notes sql_quote_show_create sql_safe_updates sql_warnings transaction_read_only unique_checks`

/** Variables that SET takes and that change nothing, in lower case. */
export const clientVariables: ReadonlySet<string> = new Set([
  ...others.split(/\s+/).filter((name) => name !== ''),
  ...systemVariables.map(([name]) => name),
])
