import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.js'
import { openForReading } from '../../store/open.js'
import { createTrieHasher, type HashedTrie } from '../../sync/head/trieHasher.js'
import { BACKGROUND_NICENESS, yieldToMainThread } from '../../workers/priority.js'
import { decodeChanges } from '../codec/messageState.js'
import type { TrieHasherData, TrieHasherReply, TrieHasherRequest } from './trieHasher.js'

/* Entry point of a thread that hashes the state trie of a replica that catches up. It only reads the database. */

yieldToMainThread(BACKGROUND_NICENESS)
const port = parentPort!
const { datadir, cacheBytes } = workerData as TrieHasherData
const db = openForReading(datadir)
const hasher = createTrieHasher(db, cacheBytes)
let generation = 0
let failed = false
/** Requests that arrived while the last result was not committed. */
let later: TrieHasherRequest[] | undefined

port.on('message', (request: TrieHasherRequest) => {
  if (request.kind === 'stop') {
    db.close()
    port.close()
  } else if (request.kind === 'begin') {
    later = undefined
    failed = false
    generation = request.generation
    attempt(request)
  } else if (request.kind === 'stored') resume()
  else take(request)
})

function take(request: TrieHasherRequest): void {
  if (later) later.push(request)
  else if (!failed) attempt(request)
}

function resume(): void {
  const waiting = later ?? []
  later = undefined
  for (const each of waiting) take(each)
}

function attempt(request: TrieHasherRequest): void {
  try {
    handle(request)
  } catch (error) {
    failed = true
    reply({ kind: 'failed', generation, problem: messageOf(error) })
  }
}

function handle(request: TrieHasherRequest): void {
  if (request.kind === 'begin') hasher.begin(request.blockNumber)
  else if (request.kind === 'note') {
    for (const { blockNumber, encodedState } of request.blocks) {
      if (!hasher.note(blockNumber, decodeChanges(encodedState))) throw new Error('no room for more changes')
    }
    reply({ kind: 'noted', generation, blocks: request.blocks.length, size: hasher.size })
  } else if (request.kind === 'hash') {
    const hashed = hasher.hash()
    later = []
    reply({ kind: 'hashed', generation, hashed }, buffersOf(hashed))
  }
}

function reply(message: TrieHasherReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

function buffersOf({ pages, removed }: HashedTrie): ArrayBuffer[] {
  return [pages.ids, pages.ends, pages.bytes, removed].map(({ buffer }) => buffer as ArrayBuffer)
}
