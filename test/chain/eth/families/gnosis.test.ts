import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blobBaseFeeOf } from '../../../../src/chain/eth/fees.js'
import { forkHashAt } from '../../../../src/chain/eth/forkId.js'
import { rulesAt } from '../../../../src/chain/eth/forks/rules.js'
import { builtInGenesis } from '../../../../src/chain/eth/genesis.js'

describe('networks of Gnosis', () => {
  // EIP-2124, from clients of these networks and from eth_config of a node.
  for (const [network, ids] of Object.entries({
    gnosis: {
      1690889660: 0x2efe91ba,
      1710181820: 0x1384dfc1,
      1746021820: 0x2f095d4a,
      1766419900: 0xd00284ad,
      1776168380: 0xcfca387c,
    },
    chiado: { 1684934220: 0xa15a4252, 1706724940: 0x5fbc16bc, 1741254220: 0x8ba51786 },
  })) {
    it(`have the fork ids of ${network}`, () => {
      const { spec, hash } = builtInGenesis(network as 'gnosis' | 'chiado')
      for (const [time, id] of Object.entries(ids)) assert.equal(forkHashAt(spec, hash, BigInt(time)), id, time)
    })
  }

  it('have a minimum price of blobs of 1 gwei', () => {
    const { spec } = builtInGenesis('gnosis')
    for (const time of [1_710_181_820n, 1_746_021_820n, 1_776_168_380n]) {
      const rules = rulesAt(spec, 40_000_000, time)
      assert.deepEqual([rules.blobs!.target, rules.blobs!.max], [1, 2])
      assert.equal(blobBaseFeeOf(0n, rules), 1_000_000_000n)
    }
  })
})
