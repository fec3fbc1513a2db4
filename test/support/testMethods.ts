import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { threadId } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'
import { recoverPublicKey } from '../../src/chain/crypto.js'
import { CallReverted } from '../../src/evm/errors.js'
import { defineMethod, JsonBytes, type Method } from '../../src/rpc/core/method.js'
import { boolean, optional, quantity, required, text } from '../../src/rpc/core/params.js'
import { call as ethCall } from '../../src/rpc/eth/call.js'
import { estimateGas } from '../../src/rpc/eth/estimateGas.js'

/* A method table of the tests' own: loaded by the server and by its reader threads, as src/rpc/methods.ts otherwise. */

/** What `test_signal` emits `signal` on, in the process of the test. */
export const signals = new EventEmitter()

const value = { name: 'value', schema: {} }

const echo = defineMethod({
  name: 'test_echo',
  summary: 'Its parameters.',
  cost: 'point',
  classes: ['node'],
  params: [required('word', text, 'A word.'), optional('loud', boolean, 'Whether in capitals.', false)],
  result: value,
  errors: [],
  handler: (_context, word, loud) => (loud ? word.toUpperCase() : word),
})

const signal = defineMethod({
  name: 'test_signal',
  summary: 'Says in the process of the test that it was run, with its word.',
  cost: 'point',
  classes: ['node'],
  params: [required('word', text, 'A word.')],
  result: value,
  errors: [],
  handler: (_context, word) => void signals.emit('signal', word),
})

const long = defineMethod({
  name: 'test_long',
  summary: 'A text of that length.',
  cost: 'point',
  classes: ['node'],
  params: [required('length', quantity, 'Its length.')],
  result: value,
  errors: [],
  handler: (_context, length) => 'x'.repeat(Number(length)),
})

const broken = defineMethod({
  name: 'test_broken',
  summary: 'Fails with an unexpected error.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: () => {
    throw new TypeError('a secret of the inside')
  },
})

const scan = defineMethod({
  name: 'test_scan',
  summary: 'A word from a reader thread.',
  cost: 'scan',
  classes: ['node'],
  params: [required('word', text, 'A word.')],
  result: value,
  errors: [],
  handler: (_context, word) => word,
})

const wait = defineMethod({
  name: 'test_wait',
  summary: 'A word from a reader thread after that many milliseconds.',
  cost: 'scan',
  classes: ['node'],
  params: [required('milliseconds', quantity, 'How long.')],
  result: value,
  errors: [],
  handler: (_context, milliseconds) =>
    new Promise((resolve) => setTimeout(() => resolve(`waited ${milliseconds}`), Number(milliseconds))),
})

const polite = defineMethod({
  name: 'test_polite',
  summary: 'Works for ever, but looks at its deadline.',
  cost: 'scan',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: ({ deadline }) => {
    for (;;) deadline.check()
  },
})

const work = defineMethod({
  name: 'test_work',
  summary: 'Works for that many milliseconds, looking at its deadline, and returns the id of its thread.',
  cost: 'scan',
  classes: ['node'],
  costKey: ([, key]) => String(key),
  params: [required('milliseconds', quantity, 'How long.'), required('key', text, 'Its cost key.')],
  result: value,
  errors: [],
  handler: ({ deadline }, milliseconds, _key) => {
    const end = performance.now() + Number(milliseconds)
    while (performance.now() < end) deadline.check()
    return threadId
  },
})

const politeCall = defineMethod({ ...polite, name: 'test_politeCall', cost: 'evm' })

const politeTrace = defineMethod({
  ...politeCall,
  name: 'test_politeTrace',
  summary: 'Sends its result in parts for ever.',
  isTrace: true,
  handler: ({ deadline, sendPart }) => {
    for (;;) {
      deadline.check()
      sendPart?.(Buffer.alloc(1024, ' '))
    }
  },
})

const workCall = defineMethod({
  ...work,
  name: 'test_workCall',
  summary: 'Works for that many milliseconds, looking at its deadline, and sends its result in parts.',
  cost: 'evm',
  classes: ['node'],
  costKey: undefined,
  handler: ({ deadline, sendPart }, milliseconds, word) => {
    const end = performance.now() + Number(milliseconds)
    while (performance.now() < end) deadline.check()
    if (word === 'parts') sendPart?.(Buffer.from('["'))
    return word === 'parts' ? new JsonBytes(Buffer.from('parts"]')) : word
  },
})

const stuckScan = defineMethod({ ...spin('test_stuckScan'), cost: 'scan' })
const stuckCall = defineMethod({ ...spin('test_stuckCall'), cost: 'evm' })

function spin(name: string): Omit<Method, 'cost'> {
  return {
    name,
    summary: 'Never ends and never looks up.',
    classes: ['node'],
    params: [],
    result: value,
    errors: [],
    handler: () => {
      for (;;);
    },
  }
}

const ORPHAN_ENDS = 'const { ppid } = process; setInterval(() => process.ppid === ppid || process.exit(), 100)'

const nativeCall = defineMethod({
  ...politeCall,
  name: 'test_nativeCall',
  summary: 'Waits in native code as long as the process lives; no termination reaches it.',
  handler: () => spawnSync(process.execPath, ['-e', ORPHAN_ENDS]).status,
})

const deafCall = defineMethod({
  name: 'test_deafCall',
  summary: 'Works for that many milliseconds without looking up.',
  cost: 'evm',
  classes: ['node'],
  params: [required('milliseconds', quantity, 'How long.')],
  result: value,
  errors: [],
  handler: (_context, milliseconds) => {
    const end = performance.now() + Number(milliseconds)
    while (performance.now() < end);
    return `worked ${milliseconds}`
  },
})

const deafScan = defineMethod({ ...deafCall, name: 'test_deafScan', cost: 'scan' })

const call = defineMethod({
  name: 'test_call',
  summary: 'A word from a thread for calls.',
  cost: 'evm',
  classes: ['node'],
  params: [required('word', text, 'A word.')],
  result: value,
  errors: [],
  handler: (_context, word) => word,
})

const revert = defineMethod({
  name: 'test_revert',
  summary: 'Reverts with that many bytes.',
  cost: 'evm',
  classes: ['node'],
  params: [required('length', quantity, 'How many bytes.')],
  result: value,
  errors: [],
  handler: (_context, length) => {
    throw new CallReverted(new Uint8Array(Number(length)).fill(0xab))
  },
})

const thread = defineMethod({
  name: 'test_thread',
  summary: 'The id of a thread for calls.',
  cost: 'evm',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: () => threadId,
})

const addons = defineMethod({
  name: 'test_addons',
  summary: 'The packages whose native addons the thread has loaded once it has recovered a public key.',
  cost: 'evm',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: () => {
    const one = new Uint8Array(32).fill(1)
    recoverPublicKey(one, 0, one, one)
    const loaded = Object.keys(createRequire(import.meta.url).cache)
    const addons = loaded.filter((path) => path.endsWith('.node'))
    return addons.map((path) => /.*[/\\]node_modules[/\\]([^/\\]+)/.exec(path)?.[1] ?? path)
  },
})

const crash = defineMethod({
  name: 'test_crash',
  summary: 'Ends its thread.',
  cost: 'scan',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: () => process.exit(1),
})

const fail = defineMethod({
  name: 'test_fail',
  summary: 'Ends its thread by throwing, outside the request, what better-sqlite3 throws.',
  cost: 'scan',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: () => {
    setImmediate(() => {
      throw new SqliteDatabase.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT')
    })
    return new Promise(() => {})
  },
})

/** The methods by name. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  [
    echo,
    signal,
    long,
    broken,
    scan,
    wait,
    polite,
    work,
    politeCall,
    politeTrace,
    workCall,
    stuckScan,
    stuckCall,
    nativeCall,
    deafCall,
    deafScan,
    call,
    revert,
    thread,
    addons,
    crash,
    fail,
    ethCall,
    estimateGas,
  ].map((method) => [method.name, method]),
)
