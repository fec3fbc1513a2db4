/** The number for JSON output; 0 for NaN and infinities, as geth writes a price that overflows. */
export function finite<N extends number | bigint>(value: N): N | 0 {
  return typeof value === 'bigint' || Number.isFinite(value) ? value : 0
}
