// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @main() {
  // expected-error @+1 {{is not supported by the interpreter, which executes ops of the graph and block levels and those that implement InterpretableOpInterface}}
  %id = gpu.thread_id x
  return
}
