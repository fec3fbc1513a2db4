import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseGenesisSpec } from '../../../src/chain/eth/genesis.js'
import { parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { openEthRpc } from '../../../src/sources/ethRpc/ethRpc.js'
import { opAnswers } from '../../support/chains/op/opAnswers.js'
import { BLOCKS_PER_FORK, type RecordedObject, readOpChain } from '../../support/chains/op/opChain.js'
import { type Fault, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

/* Members of receipts that no root covers are computed, and compared with those of the upstream. */

const chain = readOpChain()
const spec = parseGenesisSpec(chain.genesis)
const upstream = await startScriptedUpstream(opAnswers(chain))
after(() => upstream.close())

/** Fetches a block with receipts from an upstream with a fault. */
async function fetchWith(fault: Fault | undefined, number: number) {
  upstream.fault = fault
  const rpc = openEthRpc({
    ...{ upstreams: [{ url: upstream.url }], chainId: spec.chainId, genesisHash: parseHex(chain.hash), spec },
    ...{ withReceipts: true, log: silentLogger, maxFailures: 1 },
  })
  try {
    return await rpc.getBlock(number)
  } finally {
    rpc.close()
  }
}

/** Sets a member of all receipts that have it. */
function changes(name: string, value: string | undefined): Fault {
  return {
    name,
    lacks: ['debug_getRawBlock', 'debug_getRawReceipts'],
    result: ({ method }, result) =>
      method === 'eth_getBlockReceipts'
        ? (result as RecordedObject[]).map((receipt) => (name in receipt ? { ...receipt, [name]: value } : receipt))
        : result,
  }
}

const REGOLITH = BLOCKS_PER_FORK + 4
const JOVIAN = 8 * BLOCKS_PER_FORK + 8

for (const [number, name, value, expected] of [
  [JOVIAN, 'depositNonce', '0x7777', /receipts root/],
  [JOVIAN, 'l1Fee', '0x1', /receipts\[\d+\]\.l1Fee: expected 0x[0-9a-f]+, computed by Cairn, got 0x1/],
  [JOVIAN, 'daFootprintGasScalar', '0x1', /daFootprintGasScalar: expected 0x190/],
  [JOVIAN, 'blobGasUsed', '0x1', /blobGasUsed: expected 0x/],
  [REGOLITH, 'l1FeeScalar', '0.5', /l1FeeScalar: expected 0\.684, computed by Cairn, got 0\.5/],
  [REGOLITH, 'l1GasUsed', '0x', /l1GasUsed: expected 0x[0-9a-f]+, computed by Cairn, got 0x/],
] as const) {
  test(`refuses ${name} ${value} of block ${number}`, async () => {
    await assert.rejects(fetchWith(changes(name, value), number), expected)
  })
}

test('accepts other forms of the same values, and nodes without them', async () => {
  for (const [name, value] of [
    ['l1FeeScalar', '0.6840'],
    ['l1Fee', undefined],
  ] as const) {
    const raw = await fetchWith(changes(name, value), REGOLITH)
    assert.equal(raw!.receipts!.length, chain.blocks[REGOLITH].receipts.length)
  }
})
