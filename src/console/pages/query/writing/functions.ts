/** The functions that the editor proposes: common functions of DuckDB. The service supports all of them. */
export const functions = `
  abs any_value approx_count_distinct approx_quantile arg_max arg_min array_agg avg bit_and bit_or bool_and bool_or cbrt ceil
  concat concat_ws contains corr cos count count_if covar_pop covar_samp cume_dist current_date date_add date_diff date_part
  date_sub date_trunc day dayname dayofweek dayofyear degrees dense_rank editdist3 ends_with entropy epoch epoch_ms exp
  first first_value flatten floor format format_bytes from_json gcd generate_series geomean greatest group_concat hash histogram hour
  instr isfinite isnan jaccard jaro_winkler_similarity json_array json_array_length json_extract json_extract_string json_group_array
  json_keys json_object json_type json_valid kurtosis lag last last_day last_value lead least left length levenshtein list
  list_aggregate list_avg list_concat list_contains list_distinct list_extract list_filter list_max list_min list_position list_reduce
  list_reverse list_slice list_sort list_sum list_transform list_unique list_value ln log log10 log2 lower lpad ltrim mad make_date
  make_timestamp map map_entries map_extract map_keys map_values max max_by md5 mean median min min_by minute mode month monthname now
  nth_value ntile nullif percent_rank pi position pow printf product quantile_cont quantile_disc quarter radians random range rank
  regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array regr_intercept regr_r2
  regr_slope repeat replace reverse right round row_number rpad rtrim second sha256 sign sin skewness split_part sqrt starts_with
  stddev stddev_pop stddev_samp strftime string_agg string_split strip_accents strpos strptime struct_pack substring sum tan
  time_bucket to_days to_hours to_json to_minutes to_months to_seconds to_timestamp to_years today translate trim trunc try_strptime
  typeof unnest upper uuid var_pop var_samp variance week weekofyear year yearweek`
  .split(/\s+/)
  .filter((name) => name !== '')
