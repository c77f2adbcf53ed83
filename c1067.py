exec(open('/tmp/adv/replay.py').read().split('if __name__ ==')[0].replace("/tmp/adv/fuzz1.py').read().split('if __name__')[0]","/tmp/adv/fuzz1.py').read().split('if __name__')[0]"))
def load(d):
    z = np.load(d + "/args.npz"); return open(d+"/p.mlir").read(), [z[k].view(BF) if z[k].dtype == np.uint16 else z[k] for k in sorted(z.files)]
text, args = load("/tmp/adv/fail_1067_2")
print("want", interp(text,args)[2])
f = drawloom.compile(text, target="emulator").main
for i in range(5): print("emu open", f(*args)[2])
d="/tmp/adv/c1067"; os.makedirs(d,exist_ok=True)
for j,a in enumerate(args): np.save(f"{d}/{j:02}.npy", a)
