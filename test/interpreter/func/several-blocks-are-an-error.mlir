// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

// expected-error @+1 {{has several blocks; the interpreter executes structured control flow only}}
func.func @main() {
  cf.br ^next
^next:
  return
}
