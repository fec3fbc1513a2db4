import type { ChainSpec } from '../../forks/rules.js'
import type { Header } from '../../types.js'
import type { BftPeriod, BftRules } from './bftRules.js'

/** Returns what holds for the execution of a block. Besu compares `block` of a transition with the number of a block,
 *  or with its time where `block` is not below the time of the first fork by time. From that fork on, all transitions
 *  by number hold (ProtocolScheduleBuilder, ProtocolSpecAdapters). */
export function periodAt(spec: ChainSpec, { number, timestamp }: Pick<Header, 'number' | 'timestamp'>): BftPeriod {
  const first = firstForkTime(spec)
  const at = timestamp >= first ? timestamp : BigInt(number)
  return newestPeriod(spec, (block) => (BigInt(block) >= first ? timestamp : at))
}

/** Returns what holds for the validators that may seal the block after `parent`. Besu compares `block` of a transition
 *  that is not below the time of the first fork by time with the time of the parent, any other with the number
 *  (ForksSchedule, since 26.3). GoQuorum's change one block later. */
export function validatorPeriodAfter(spec: ChainSpec, parent: Pick<Header, 'number' | 'timestamp'>): BftPeriod {
  const { number, timestamp } = parent
  if (spec.bft!.isGoQuorum) return newestPeriod(spec, () => BigInt(number))
  const first = firstForkTime(spec)
  return newestPeriod(spec, (block) => (BigInt(block) >= first ? timestamp : BigInt(number) + 1n))
}

/** Returns the validators that a transition names for block `number`, 20 bytes each: GoQuorum's begin one block later.
 *  Undefined where none does. */
export function validatorsFrom({ isGoQuorum, periods }: BftRules, number: number): readonly Uint8Array[] | undefined {
  const block = isGoQuorum ? number - 1 : number
  return periods.find((period) => period.block === block && period.validators !== undefined)?.validators
}

function newestPeriod(spec: ChainSpec, reached: (block: number) => bigint): BftPeriod {
  const { periods } = spec.bft!
  return periods.findLast(({ block }) => BigInt(block) <= reached(block)) ?? periods[0]
}

/** Unix seconds; above all times where no fork is by time. */
function firstForkTime({ activations }: ChainSpec): bigint {
  let first = 2n ** 64n
  for (const { timestamp } of activations) if (timestamp !== undefined && timestamp < first) first = timestamp
  return first
}
