import { runProgram } from './program.ts';

// Nothing is awaited: what a command loads could not import a file that waits for the command to end. Nothing else is here: the bundle shares files
// between the command line and the library, and whatever is done on loading a shared file, the library would do too.
runProgram();
