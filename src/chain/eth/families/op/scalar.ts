const DIGITS = 10

/** Formats the fee scalar, in millionths, as a decimal number in the form of op-geth: at most 10 significant digits,
 *  with an exponent of two digits below 0.0001 and from 10^10 on (%.10g of Go). */
export function formatScalar(scalar: bigint): string {
  if (scalar === 0n) return '0'
  const [mantissa, exponentText] = (Number(scalar) / 1e6).toExponential(DIGITS - 1).split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < DIGITS) return withoutZeros((Number(scalar) / 1e6).toFixed(DIGITS - 1 - exponent))
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  return `${withoutZeros(mantissa)}e${exponent < 0 ? '-' : '+'}${digits}`
}

/** Removes zeros at the end of a fraction. */
function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
