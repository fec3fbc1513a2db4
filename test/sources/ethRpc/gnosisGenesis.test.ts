import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInGenesis } from '../../../src/chain/eth/genesis.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { openEthRpc } from '../../../src/sources/ethRpc/ethRpc.js'
import { WrongChain } from '../../../src/sources/upstreams/errors.js'
import { RpcFailure, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

test('a node of Gnosis is recognised by the hash of block 0, which has the fields of Authority Round', async (t) => {
  const { spec, hash } = builtInGenesis('gnosis')
  let answered = formatData(hash!)
  const upstream = await startScriptedUpstream({
    head: 0,
    close: () => {},
    result: async (method) => {
      if (method === 'eth_chainId') return '0x64'
      if (method === 'eth_getBlockByNumber') return { number: '0x0', hash: answered, step: 0, signature: '0x00' }
      throw new RpcFailure(-32601, method)
    },
  })
  t.after(() => upstream.close())
  const start = async () => {
    const rpc = openEthRpc({
      ...{ upstreams: [{ url: upstream.url }], chainId: spec.chainId, spec, genesisHash: hash! },
      ...{ log: silentLogger, maxFailures: 1 },
    })
    try {
      await rpc.start()
    } finally {
      rpc.close()
    }
  }
  await start()
  answered = `0x${'12'.repeat(32)}`
  await assert.rejects(start(), WrongChain)
})
