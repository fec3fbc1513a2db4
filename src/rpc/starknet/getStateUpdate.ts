import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import type { L2StateDiff } from '../../chain/starknet/types.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import { L2PartUnavailable } from '../../store/l2/unavailable.js'
import { defineMethod } from '../core/method.js'
import { blockIdParam, type FoundL2Block, requireL2Block } from './blockId.js'
import type { L2Body } from './body.js'
import { BLOCK_NOT_FOUND, PART_UNAVAILABLE } from './errors.js'
import { bodyOf } from './foundTransaction.js'
import { STARKNET_STATE_UPDATE_SCHEMA } from './schemas.js'

export const getStateUpdate = defineMethod({
  name: 'starknet_getStateUpdate',
  summary: 'The state changes of a layer-2 block.',
  description:
    'The object of specification 0.9, with `migrated_compiled_classes` of 0.10 where there are such. An error if the state ' +
    'update was not recorded; `--l2-upstream` records it.',
  cost: 'scan',
  classes: ['state'],
  params: [blockIdParam],
  result: { name: 'state update', schema: STARKNET_STATE_UPDATE_SCHEMA },
  errors: [BLOCK_NOT_FOUND, PART_UNAVAILABLE],
  handler: ({ l2 }, id) => {
    const found = requireL2Block(l2, id)
    const body = bodyOf(l2, found)
    const number = 'pending' in found ? found.pending.number : found.confirmed.number
    const oldRoot = oldRootOf(l2, found, body)
    const { stateDiff } = body.block
    if (stateDiff === undefined || oldRoot === undefined) throw new L2PartUnavailable(number, 'state update')
    const update = { old_root: formatFelt(oldRoot), state_diff: formatStateDiff(stateDiff) }
    if ('pending' in found) return update
    const { hash, newRoot } = found.confirmed
    return { block_hash: formatFelt(hash), new_root: formatFelt(newRoot), ...update }
  },
})

/** State root before the block: recorded, or that of the parent. */
function oldRootOf(l2: L2Reader, found: FoundL2Block, { oldRoot }: L2Body): Felt | undefined {
  if (oldRoot !== undefined) return oldRoot
  const { number, parentHash } = 'pending' in found ? found.pending : found.confirmed
  if (number === 0) return 0n
  return parentHash === undefined ? undefined : l2.blockByHash(parentHash)?.newRoot
}

function formatStateDiff(diff: L2StateDiff): object {
  const compiled = ({ classHash, compiledClassHash }: L2StateDiff['declaredClasses'][0]) => ({
    class_hash: formatFelt(classHash),
    compiled_class_hash: formatFelt(compiledClassHash),
  })
  const migrated = diff.migratedClasses.map(compiled)
  return {
    storage_diffs: diff.storage.map(({ address, entries }) => ({
      address: formatFelt(address),
      storage_entries: entries.map(({ key, value }) => ({ key: formatFelt(key), value: formatFelt(value) })),
    })),
    deprecated_declared_classes: diff.declaredLegacyClasses.map(formatFelt),
    declared_classes: diff.declaredClasses.map(compiled),
    ...(migrated.length === 0 ? {} : { migrated_compiled_classes: migrated }),
    deployed_contracts: diff.deployedContracts.map(({ address, classHash }) => ({
      address: formatFelt(address),
      class_hash: formatFelt(classHash),
    })),
    replaced_classes: diff.replacedClasses.map(({ address, classHash }) => ({
      contract_address: formatFelt(address),
      class_hash: formatFelt(classHash),
    })),
    nonces: diff.nonces.map(({ address, nonce }) => ({
      contract_address: formatFelt(address),
      nonce: formatFelt(nonce),
    })),
  }
}
