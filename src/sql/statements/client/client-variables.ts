/** Room: the variables and settings that clients set for themselves, and those of DuckDB. It imports dialect alone. */

import { serverVariables } from '../../../dialect/server-variables.js'

/** What clients set for their connection, beside the variables that SHOW VARIABLES lists. None changes what a query answers here. */
const others = `
  names character charset transaction application_name client_encoding datestyle extra_float_digits character_set_database
  collation_database completion_type context foreign_key_checks innodb_lock_wait_timeout lc_messages lock_wait_timeout
  net_read_timeout optimizer_switch predictor_cache profiling show_secrets sql_auto_is_null sql_big_selects sql_log_bin
  sql_notes sql_quote_show_create sql_safe_updates sql_warnings transaction_read_only unique_checks`

/** Variables that SET takes and that change nothing, in lower case. */
export const clientVariables: ReadonlySet<string> = new Set([
  ...others.split(/\s+/).filter((name) => name !== ''),
  ...serverVariables.map(([name]) => name),
])
