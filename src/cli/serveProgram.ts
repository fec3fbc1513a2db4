import { type Run, runCommandLine } from './commandLine.js'

/** `cairn serve`. Returns the exit code. */
export const runServe: Run = async (args) => (await import('./commands/serve.js')).runServe(args)

/** `runProgram` of `cairn serve` alone. Returns the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, async () => runServe)
}
