import {
  CALL_DEPTH,
  CODE_STORE_OUT_OF_GAS,
  CODE_TOO_LARGE,
  GAS_OVERFLOW,
  INSUFFICIENT_BALANCE,
  INVALID_CODE,
  INVALID_JUMP,
  isOutOfGas,
  OUT_OF_GAS,
  RETURN_DATA_OUT_OF_BOUNDS,
  REVERTED_BY_CODE,
  WRITE_PROTECTION,
  WRITE_PROTECTION_WHILE_PRICING,
} from '../interpreter/failures.js'

/** A complete failure, or the beginning of failures, in geth's words, with OpenEthereum's name for it. */
type Wording = readonly [failure: string, error: string]

const COMMON: readonly Wording[] = [
  [INVALID_JUMP, 'Bad jump destination'],
  [REVERTED_BY_CODE, 'Reverted'],
  [RETURN_DATA_OUT_OF_BOUNDS, 'Out of bounds'],
]
const COMMON_PREFIXES: readonly Wording[] = [
  ['invalid opcode:', 'Bad instruction'],
  ['stack underflow', 'Stack underflow'],
]

// From eth/tracers/native/call_flat.go of geth: complete failures, some of them outdated, and prefixes.
const OF_GETH = new Map<string, string>([
  ...COMMON,
  [CODE_STORE_OUT_OF_GAS, 'Out of gas'],
  [OUT_OF_GAS, 'Out of gas'],
  [GAS_OVERFLOW, 'Out of gas'],
  [CODE_TOO_LARGE, 'Out of gas'],
  ['stack limit reached 1024 (1023)', 'Out of stack'],
  ['precompiled failed', 'Built-in failed'],
  ['invalid input length', 'Built-in failed'],
])
const PREFIXES_OF_GETH: readonly Wording[] = [...COMMON_PREFIXES, [`${OUT_OF_GAS}:`, 'Out of gas']]

// Messages of OpenEthereum's vm::Error and trace::Error. Code that must not be stored was out of gas there.
const OF_PARITY = new Map<string, string>([
  ...COMMON,
  [CODE_STORE_OUT_OF_GAS, 'Out of gas'],
  [GAS_OVERFLOW, 'Out of gas'],
  [INVALID_CODE, 'Invalid code'],
  [WRITE_PROTECTION, 'Mutable Call In Static Context'],
  [WRITE_PROTECTION_WHILE_PRICING, 'Mutable Call In Static Context'],
])
const PREFIXES_OF_PARITY: readonly Wording[] = [
  ...COMMON_PREFIXES,
  [CODE_TOO_LARGE, 'Out of gas'],
  ['stack limit reached', 'Out of stack'],
]

const withPrefix = (prefixes: readonly Wording[], failure: string) =>
  prefixes.find(([prefix]) => failure.startsWith(prefix))?.[1]

/** The failure as geth's flatCallTracer writes it with `convertParityErrors`. */
export function convertedByGeth(failure: string): string {
  return OF_GETH.get(failure) ?? withPrefix(PREFIXES_OF_GETH, failure) ?? failure
}

/** The failure as `trace_` methods write it: in OpenEthereum's words where it had some. */
export function parityError(failure: string, isPrecompile: boolean): string {
  const known = OF_PARITY.get(failure) ?? withPrefix(PREFIXES_OF_PARITY, failure)
  if (known !== undefined && !isPrecompile) return known
  if (isOutOfGas(failure)) return 'Out of gas'
  const hasRun = failure !== CALL_DEPTH && failure !== INSUFFICIENT_BALANCE
  return isPrecompile && hasRun ? 'Built-in failed' : failure
}
