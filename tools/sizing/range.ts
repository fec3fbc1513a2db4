/** A figure that is at least `low` and at most `high`; one that is exact has both alike. */
export interface Range {
  readonly low: number
  readonly high: number
}

/** Returns the range of a figure that is exact, or that is between the two. @throws RangeError where `low` is above
 *  `high` */
export function between(low: number, high: number = low): Range {
  if (!(low <= high)) throw new RangeError(`expected a range that begins with the lower figure, got ${low} to ${high}`)
  return { low, high }
}

/** Returns the sum of all ranges, lows and highs apart. */
export function sum(...ranges: readonly Range[]): Range {
  return {
    low: ranges.reduce((total, { low }) => total + low, 0),
    high: ranges.reduce((total, { high }) => total + high, 0),
  }
}

/** Returns the product of figures that are not negative. */
export function product(...ranges: readonly Range[]): Range {
  return {
    low: ranges.reduce((total, { low }) => total * low, 1),
    high: ranges.reduce((total, { high }) => total * high, 1),
  }
}

/** Returns the quotient of figures above zero: the least is the low by the high. */
export function quotient(dividend: Range, divisor: Range): Range {
  return { low: dividend.low / divisor.high, high: dividend.high / divisor.low }
}

/** Returns the range times a number that is not negative. */
export function times(range: Range, factor: number): Range {
  return { low: range.low * factor, high: range.high * factor }
}

/** Returns the number in the middle. */
export function mean({ low, high }: Range): number {
  return (low + high) / 2
}
