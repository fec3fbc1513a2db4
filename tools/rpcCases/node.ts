import { ALICE, TOKEN } from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, positional } from './case.js'

/** Cases of the methods about the server itself. */
export function nodeCases(): CasesByMethod {
  return {
    eth_chainId: { fixture: positional(), 'too-many': positional(1) },
    eth_config: { fixture: positional(), 'too-many': positional(1) },
    eth_syncing: { never: positional(), 'too-many': positional(true) },
    eth_capabilities: { archive: positional(), 'too-many': positional(true) },
    eth_pendingTransactions: { none: positional(), 'too-many': positional(1) },
    eth_accounts: { none: positional(), 'too-many': positional('mine') },
    eth_coinbase: { none: positional(), 'too-many': positional(1) },
    eth_mining: { never: positional(), 'too-many': positional(1) },
    eth_hashrate: { zero: positional(), 'too-many': positional(1) },
    eth_protocolVersion: { eth69: positional(), 'too-many': positional(1) },
    // The name has the version and the platform.
    admin_nodeInfo: { fixture: { params: [], drop: ['name'] }, 'too-many': positional(1) },
    admin_peers: { none: positional(), 'too-many': positional(1) },
    net_version: { fixture: positional(), 'too-many': positional(1) },
    net_listening: { always: positional(), 'too-many': positional(1) },
    net_peerCount: { none: positional(), 'too-many': positional(1) },
    txpool_content: { empty: positional(), 'too-many': positional(1) },
    txpool_contentFrom: {
      empty: positional(ALICE),
      'short-address': positional('0x1234'),
      missing: positional(),
      'too-many': positional(ALICE, 1),
    },
    txpool_inspect: { empty: positional(), 'too-many': positional(1) },
    txpool_status: { empty: positional(), 'too-many': positional(1) },
    cairn_getStatus: {
      'newest-block': { params: [1], example: true, varies: true },
      // Version, sizes and calls differ from server to server.
      fixture: { params: [3], drop: ['version', 'database', 'calls'] },
      'no-blocks': { params: [], keep: ['chainId', 'head', 'safe', 'finalized', 'blocks'] },
      'too-many-blocks': positional(257),
      'too-many': positional(1, 2),
    },
    cairn_addAbi: {
      'without-key': {
        ...positional('Token', [{ type: 'function', name: 'symbol', inputs: [] }], TOKEN),
        example: true,
      },
      'empty-abi': positional('Token', [], TOKEN),
      'malformed-item': positional('Token', [{ type: 'event', name: 'not a name', inputs: [] }]),
      'empty-name': positional('', [{ type: 'function', name: 'f', inputs: [] }]),
      missing: positional('Token'),
    },
    cairn_listAbis: { none: positional(), 'too-many': positional(1) },
    cairn_findSignatures: {
      'by-name': { ...positional('balanceOf'), example: true },
      'by-selector': positional('0xa9059cbb'),
      'by-topic': positional('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', 1),
      unknown: positional('noSuchFunction'),
      empty: positional(''),
      'zero-results': positional('transfer', 0),
      missing: positional(),
      'too-many': positional('transfer', 1, 2),
    },
    // What it answers is the version and the platform: a test looks at its form.
    web3_clientVersion: { 'too-many': positional(1) },
    web3_sha3: {
      empty: positional('0x'),
      transfer: positional(`0x${Buffer.from('Transfer(address,address,uint256)').toString('hex')}`),
      'odd-digits': positional('0x1'),
      'not-hex': positional('hello'),
      missing: positional(),
    },
    rpc_modules: { all: positional(), 'too-many': positional('eth') },
    // Its methods are held by a test of their own and by docs/methods.md.
    rpc_discover: { all: { params: [], keep: ['openrpc'] }, 'too-many': positional(1) },
  }
}
