import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ReplicationStatus } from '../../src/sync/replicationStatus.js'
import { type Running, spawnCairn } from './cairn.js'
import { openBranches } from './chains/branches.js'
import { isTrieAtHead } from './compare/compareChains.js'
import { resultOf } from './rpcClient.js'
import { temporaryDirectory } from './temporary.js'
import { until } from './until.js'

/** A server of the built program that takes part in replication. */
export interface Member {
  readonly url: string
  readonly datadir: string
  readonly running: Running
  replication(): Promise<ReplicationStatus>
  /** Status of `/ready`. */
  ready(): Promise<number>
  /** Hash of its newest block, as hex DATA. */
  head(): Promise<string>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** `SIGKILL`. Resolves when the process is gone. */
  kill(): Promise<void>
  /** `SIGTERM`; the process must end well. */
  stop(): Promise<void>
}

/** A data directory with the genesis of branches. */
export async function branchesDirectory(t: TestContext): Promise<string> {
  const datadir = temporaryDirectory(t)
  const { db } = await openBranches(datadir)
  db.close()
  return datadir
}

/** Starts `cairn serve` over a data directory on a free port, once it is ready to answer. It is killed with the
 *  test. */
export async function startMember(t: TestContext, datadir: string, args: readonly string[]): Promise<Member> {
  const few = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' }
  const fixed = ['serve', '--port', '0', '--open', '--log-level', process.env.CAIRN_TEST_LOG ?? 'error']
  const running = spawnCairn([...fixed, '--datadir', datadir, ...args], few)
  const kill = async () => {
    running.child.kill('SIGKILL')
    await running.ended
  }
  t.after(async () => {
    await kill()
    if (process.env.CAIRN_TEST_LOG !== undefined) console.error((await running.ended).stderr)
  })
  const [, url] = await running.waitFor('stdout', /^ready (\S+)\n/)
  return {
    url,
    datadir,
    running,
    replication: async () =>
      ((await (await fetch(`${url}/health`)).json()) as { replication: ReplicationStatus }).replication,
    ready: async () => (await fetch(`${url}/ready`)).status,
    head: async () => (await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])).hash,
    signal: (signal) => void running.child.kill(signal),
    kill,
    stop: async () => {
      running.child.kill('SIGTERM')
      const { code, signal, stderr } = await running.ended
      assert.equal(signal ?? code, 0, stderr)
    },
  }
}

/** Resolves when the member has the role. */
export const untilRole = (member: Member, role: ReplicationStatus['role']) =>
  until(async () => (await member.replication()).role === role)

/** Resolves when each member's newest block is this one, and its state trie that of it. */
export async function untilHead(members: readonly Member[], hash: string): Promise<void> {
  for (const member of members) {
    await until(async () => (await member.head()) === hash)
    await until(() => isTrieAtHead(member.datadir))
  }
}

/** Resolves when all is well with the member. */
export const untilFollowing = (member: Member) =>
  until(async () => {
    const { state, problem } = await member.replication()
    return state === 'following' && problem === null
  })
