import { formatData } from '../../../../lib/hex.js'
import { type GenesisJson, InvalidGenesis, readBytes, readUint, requireObject } from '../../genesisFields.js'
import { BASE_FORKS, OP_FORKS } from './opRules.js'

/** Members that schedule forks without a rule of the execution layer: span batches, and blob parameters of layer 1. */
const OTHER_TIMES = ['delta_time', 'pectra_blob_schedule_time']

/** Returns a genesis in the format of op-geth from a rollup configuration (rollup.json of op-node). `genesis` has the
 *  parameters of EIP-1559 where the configuration lacks them, and the state of block 0 if it has `alloc`: without it
 *  the result has the hash of block 0 instead of a state. @throws InvalidGenesis naming the member */
export function genesisOfRollup(rollup: unknown, genesis?: unknown): GenesisJson {
  const file = requireObject(rollup, 'rollup')
  const first = firstBlockOf(file)
  const number = readUint(first.number, 'genesis.l2.number', 53)
  if (number !== 0n) {
    throw new InvalidGenesis(`genesis.l2.number: expected 0, since the hash of block 0 is needed, got ${number}`)
  }
  const config: GenesisJson = {
    chainId: readUint(file.l2_chain_id, 'l2_chain_id', 64).toString(),
    optimism: file.chain_op_config ?? ownParameters(genesis) ?? {},
    bedrockBlock: 0,
    regolithTime: 0, // of all chains but those that are older than rollup configurations, unless it is there
  }
  const times = Object.entries(file).filter(([name, value]) => name.endsWith('_time') && value !== null)
  for (const [name, value] of times) {
    if (name === 'block_time' || OTHER_TIMES.includes(name)) continue
    const fork = OP_FORKS.find((known) => `${known}_time` === name)
    if (fork === undefined) throw new InvalidGenesis(`${name}: Cairn does not know this fork; a newer version may`)
    config[`${fork}Time`] = readUint(value, name, 64).toString()
  }
  for (const [name, value] of Object.entries(baseForksOf(file))) {
    const fork = BASE_FORKS.find((known) => known === name)
    if (fork === undefined) throw new InvalidGenesis(`base.${name}: Cairn does not know this fork; a newer version may`)
    if (value !== null) config[`${fork}Time`] = readUint(value, `base.${name}`, 64).toString()
  }
  const own = genesis === undefined ? undefined : requireObject(genesis, 'genesis')
  if (own?.alloc !== undefined) return { ...own, config }
  const timestamp = readUint(requireObject(file.genesis, 'genesis').l2_time ?? 0, 'genesis.l2_time', 64).toString()
  return { config, timestamp, gasLimit: 0, hash: formatData(hashOfRollup(rollup)) }
}

/** Returns the hash of block 0 in a rollup configuration, 32 bytes. @throws InvalidGenesis */
export function hashOfRollup(rollup: unknown): Uint8Array {
  return readBytes(firstBlockOf(requireObject(rollup, 'rollup')).hash, 32, 'genesis.l2.hash')
}

/** Forks of Base by name, which base-consensus has in a member of their own. */
function baseForksOf({ base }: GenesisJson): GenesisJson {
  return base === undefined || base === null ? {} : requireObject(base, 'base')
}

function firstBlockOf(file: GenesisJson): GenesisJson {
  const { l2 } = requireObject(file.genesis, 'genesis')
  return requireObject(l2, 'genesis.l2')
}

function ownParameters(genesis: unknown): unknown {
  if (genesis === undefined) return undefined
  return requireObject(requireObject(genesis, 'genesis').config, 'config').optimism
}
