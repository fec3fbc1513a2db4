import type { EvmKind } from '../../evm/kinds.js'
import { EVM_KINDS } from '../../evm/kinds.js'
import type { Option } from './option.js'
import { choice, flag, number, oneOf, parseSwitch } from './rows.js'

/** Options under the heading "Execution". */
export const executionOptions = {
  state: choice(
    'state',
    ['execute', 'none', 'sparse'] as const,
    ['import', 'sync', 'serve'],
    'execute: execute blocks from the genesis and keep the state; none: take the receipts of the file or of the upstream; ' +
      'sparse: begin at any block without state, execute every block after it, and fetch the state that is needed.',
    'the mode of the database; execute for a new one',
  ),
  stateFetch: choice(
    'state-fetch',
    ['auto', 'witness', 'proofs'] as const,
    ['sync', 'serve', 'record'],
    'How what a block needs of sparse state, or of a recording, is fetched: its witness (debug_executionWitness), proofs ' +
      '(eth_getProof), or auto: ' +
      'proofs of a few keys, the witness for more where the upstream has it.',
    'auto',
  ),
  stateFetchRate: number('state-fetch-rate', 'N', 2_000, ['serve', 'verify'], {
    min: 1,
    max: 1_000_000,
    doc:
      'Accounts and slots a second that requests of all clients fetch of sparse state, or that verify proves. A request waits for ' +
      'its turn, at most 10 seconds.',
  }),
  offline: flag(
    'offline',
    ['serve'],
    'Fetch no state for requests with --state sparse: an account or slot that is not known is an error. What blocks need ' +
      'is still fetched.',
  ),
  evm: {
    flag: 'evm',
    placeholder: EVM_KINDS.join('|'),
    default: 'cairn' as EvmKind,
    doc:
      "The interpreter for blocks and calls: Cairn's own, or that of @ethereumjs, which is many times slower and meant " +
      'for comparison.',
    commands: ['import', 'sync', 'serve'],
    parse: oneOf('evm', EVM_KINDS),
  },
  blockAccessLists: {
    flag: 'block-access-lists',
    placeholder: 'on|off',
    default: false,
    defaultText: 'off',
    doc:
      'Store the access lists of Amsterdam blocks that are imported (EIP-7928). Without them eth_getBlockAccessList executes ' +
      'the block again.',
    commands: ['import', 'sync', 'serve'],
    parse: parseSwitch('block-access-lists'),
  },
  addressIndex: {
    flag: 'address-index',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      'Keep the index of transactions by address, which ots_searchTransactionsBefore and -After need. A database that was written ' +
      'with off gets it by cairn reindex.',
    commands: ['import', 'sync', 'serve', 'reindex'],
    parse: parseSwitch('address-index'),
  },
  traces: {
    flag: 'traces',
    placeholder: 'on|off',
    default: undefined as boolean | undefined,
    defaultText: 'as the database; off for a new one',
    doc:
      'Keep the trace index: the calls and creations of every transaction, for v_traces, v_native_transfers and v_contracts in SQL, ' +
      'and for trace_filter and ots_ methods without executing blocks again. A database that was begun without it gets it by ' +
      'cairn reindex --traces. Not with --state none, nor on a replica.',
    commands: ['import', 'sync', 'serve'],
    parse: parseSwitch('traces'),
  },
  fillTraces: flag(
    'traces',
    ['reindex'],
    'Make the trace index too, by executing the blocks that it lacks. A server or an import keeps it from then on.',
  ),
  stateCache: number('state-cache', 'MIB', 256, ['import', 'sync', 'serve'], {
    min: 4,
    max: 1_048_576,
    unit: 'MiB',
    doc: 'Memory for the newest state during execution: half for the trie, half for accounts, slots and code.',
  }),
  senderThread: {
    flag: 'sender-thread',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      'Recover the senders of the next blocks in a thread of their own while a block is executed, during an import and far ' +
      'behind the upstream. It starts after 2,000 transactions, where the process has two cores or more.',
    commands: ['import', 'sync', 'serve'],
    parse: parseSwitch('sender-thread'),
  },
  rootInterval: number('root-interval', 'N', 0, ['import', 'sync', 'serve'], {
    min: 0,
    max: 10_000,
    unit: 'blocks',
    doc:
      'Blocks between two checks of the state root; after a mismatch the blocks between are checked one by one. ' +
      '0: every block; with 250,000 accounts or more every 64th while that many are to come.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
