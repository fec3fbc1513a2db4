import { type Run, runCommandLine } from './commandLine.js'

/** Loads `cairn serve`. */
export async function loadServe(): Promise<Run> {
  return (await import('./commands/serve.js')).runServe
}

/** Runs a command line that begins with `serve`. Returns the exit code. */
export function runServeProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, loadServe)
}
