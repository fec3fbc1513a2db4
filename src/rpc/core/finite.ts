/** The number for a JSON text; 0, as geth writes a price that overflows, if it is none that JSON has. */
export function finite<N extends number | bigint>(value: N): N | 0 {
  return typeof value === 'bigint' || Number.isFinite(value) ? value : 0
}
