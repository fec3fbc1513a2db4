import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const CHECK_INTERVAL_MS = 1000
/** npm, its shell, and the script that starts this process, with some margin. */
const MAX_ANCESTORS = 6

/** Calls `onEnd` once when a process that started this one has ended: the parent, and under npm or npx every ancestor
 *  up to it. npm signals a shell that does not forward signals, so often its end is the only sign. Watches nothing in a
 *  process that is meant to outlive its parent: started with `setsid`, or by PID 1 of a machine or container. Does not
 *  keep the process alive. Returns a function that stops watching. */
export function watchParents(onEnd: () => void): () => void {
  const parent = process.ppid
  if (parent <= 1 || isDetached()) return () => {}
  const ancestors = ancestorsUpToNpm(parent)
  const timer = setInterval(() => {
    if (process.ppid === parent && ancestors.every(isAlive)) return
    clearInterval(timer)
    onEnd()
  }, CHECK_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns whether the process is a session leader, as under `setsid`. Detected on Linux only. Node resets ignored
 *  signals, so `nohup` cannot be detected. */
function isDetached(): boolean {
  try {
    return statFields(process.pid)[3] === process.pid
  } catch {
    return false
  }
}

/** Returns the ancestors from `parent` up to npm, nearest first; empty for a process that npm did not start. */
function ancestorsUpToNpm(parent: number): number[] {
  if (process.env.npm_execpath === undefined) return []
  const ancestors: number[] = []
  for (let pid = parent; pid > 1 && ancestors.length < MAX_ANCESTORS; ) {
    const { command, parent: next } = describeProcess(pid)
    ancestors.push(pid)
    if (/(^|[/\\ ])(npm|npx)(-cli\.js)?( |$)/.test(command)) return ancestors
    pid = next
  }
  return []
}

/** Returns the command line of a process and its parent; parent 0 if they cannot be read. */
function describeProcess(pid: number): { command: string; parent: number } {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { command, parent: statFields(pid)[1] }
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' })
    const [, parent = '0', command = ''] = /^\s*(\d+)\s+(.*)$/m.exec(stdout ?? '') ?? []
    return { command, parent: Number(parent) }
  }
}

/** Reads /proc/PID/stat after the name, which may contain spaces (proc(5)): state, ppid, pgrp, session, … */
function statFields(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
