import { formatData } from '../../../../lib/hex.js'
import type { Refuse } from '../../invalidBlock.js'
import type { Header } from '../../types.js'

/** Checks that two thirds of the validators, rounded up, sealed a block, that no other key did, and that its proposer
 *  is one of them. `sealers` are distinct addresses of 20 bytes, `validators` hex addresses. @throws InvalidBlock */
export function verifySealers(
  sealers: readonly Uint8Array[],
  { miner }: Header,
  validators: readonly string[],
  refuse: Refuse,
): void {
  const quorum = Math.ceil((2 * validators.length) / 3)
  if (sealers.length < Math.max(quorum, 1)) {
    refuse('seals', `at least ${quorum} of ${validators.length}`, sealers.length)
  }
  const other = sealers.find((sealer) => !validators.includes(formatData(sealer)))
  if (other !== undefined) refuse('seals', 'of validators', other)
  if (!validators.includes(formatData(miner))) refuse('proposer', 'a validator', miner)
}
