import { type ChainAnswers, RpcFailure } from '../../upstream/scriptedUpstream.js'
import type { OpChain, RecordedBlock } from './opChain.js'

/** The answers of an op-geth that has the recorded chain. */
export function opAnswers({ blocks, genesis }: OpChain): ChainAnswers {
  const byHash = new Map(blocks.map((each) => [each.block.hash as string, each]))
  const find = (id: unknown): RecordedBlock | undefined =>
    typeof id === 'string' && id.length === 66 ? byHash.get(id) : blocks[Number(id)]
  const withHashes = ({ block }: RecordedBlock) => ({
    ...block,
    transactions: block.transactions.map(({ hash }) => hash),
  })
  const ofBlock: { readonly [method: string]: (found: RecordedBlock, isFull: unknown) => unknown } = {
    eth_getBlockByNumber: (found, isFull) => (isFull ? found.block : withHashes(found)),
    eth_getBlockByHash: (found, isFull) => (isFull ? found.block : withHashes(found)),
    eth_getBlockReceipts: ({ receipts }) => receipts,
    debug_getRawBlock: ({ raw }) => raw,
    debug_getRawReceipts: ({ rawReceipts }) => rawReceipts,
  }
  return {
    head: blocks.length - 1,
    close: () => {},
    result: async (method, [id, isFull]) => {
      if (method === 'eth_chainId') return `0x${genesis.config.chainId.toString(16)}`
      const answer = ofBlock[method]
      if (answer === undefined) throw new RpcFailure(-32601, `the method ${method} does not exist/is not available`)
      const found = find(id)
      return found === undefined ? null : answer(found, isFull)
    },
  }
}

/** A rollup configuration of op-node for the chain. */
export function rollupConfigOf({ genesis, hash }: Pick<OpChain, 'genesis' | 'hash'>): object {
  const { config } = genesis
  const timeOf = (fork: string) => config[`${fork}Time`]
  return {
    genesis: {
      l1: { hash, number: 1 },
      l2: { hash, number: 0 },
      l2_time: Number(genesis.timestamp),
      system_config: {},
    },
    block_time: 10,
    l1_chain_id: 1,
    l2_chain_id: config.chainId,
    delta_time: timeOf('ecotone'),
    ...Object.fromEntries(
      ['regolith', 'canyon', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus', 'jovian', 'karst'].map((fork) => [
        `${fork}_time`,
        timeOf(fork),
      ]),
    ),
    chain_op_config: config.optimism,
  }
}
